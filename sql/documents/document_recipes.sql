create or replace function lexichord.document_recipes(datasets text[] default null)
returns table (document_id bigint, uri text, recipe text, updated_at timestamptz)
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select d.id, d.uri, d.recipe, d.updated_at
    from document d join dataset s on s.id = d.dataset_id
    where datasets is null or s.name = any(datasets)
    order by d.id
$$;
comment on function lexichord.document_recipes(text[]) is
'How the chunks of each document were made, and when; of these datasets, null = all. Readers may call it.';
