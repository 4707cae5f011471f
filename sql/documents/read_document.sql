-- metadata as text: a program's numbers may hold fewer digits.
create or replace function lexichord.read_document(document bigint) returns table (
    dataset text, uri text, title text, media_type text, sha256 text, recipe text, content text, metadata text, text_config text)
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select s.name, d.uri, d.title, d.media_type, d.sha256, d.recipe, d.text, d.metadata::text, d.text_config::text
    from document d join dataset s on s.id = d.dataset_id
    where d.id = document
$$;
comment on function lexichord.read_document(bigint) is
'A document as store_document takes it: column for argument. Readers may call it.';
