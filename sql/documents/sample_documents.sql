-- By the digest's order: a sample that does not change until the documents do.
create or replace function lexichord.sample_documents(dataset text, documents integer, without text[])
returns table (document_id bigint, uri text, sha256 text)
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select d.id, d.uri, d.sha256
    from document d join dataset s on s.id = d.dataset_id
    where s.name = dataset and not d.uri = any(without)
    order by d.sha256 collate "C", d.uri collate "C"
    limit documents
$$;
comment on function lexichord.sample_documents(text, integer, text[]) is
'Some documents of a dataset, without those of the given uris: a reference for what words are rare. Readers may call it.';
