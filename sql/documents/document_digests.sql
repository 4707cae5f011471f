create or replace function lexichord.document_digests(dataset text, uris text[])
returns table (document_id bigint, uri text, sha256 text, recipe text)
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select d.id, d.uri, d.sha256, d.recipe
    from document d join dataset s on s.id = d.dataset_id
    where s.name = dataset and d.uri = any(uris)
$$;
comment on function lexichord.document_digests(text, text[]) is
'What is stored of the given uris: the digest of the source and how its chunks were made. The same in both = nothing to do. Readers may call it.';
