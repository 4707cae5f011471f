create or replace function lexichord.documents_under(dataset text, folder text)
returns table (document_id bigint, uri text, recipe text)
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select d.id, d.uri, d.recipe
    from document d join dataset s on s.id = d.dataset_id
    where s.name = dataset and starts_with(d.uri, rtrim(folder, '/') || '/')
    order by d.uri
$$;
comment on function lexichord.documents_under(text, text) is
'The documents of a dataset whose uris lie in a folder, or below. Readers may call it.';
