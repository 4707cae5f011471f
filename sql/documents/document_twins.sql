create or replace function lexichord.document_twins(dataset text, sha256s text[])
returns table (document_id bigint, uri text, sha256 text)
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select d.id, d.uri, d.sha256
    from document d join dataset s on s.id = d.dataset_id
    where s.name = dataset and d.sha256 = any(sha256s)
    order by d.uri collate "C"
$$;
comment on function lexichord.document_twins(text, text[]) is
'The documents that were made from these bytes, under whatever name: what a renamed or copied file can keep its vectors from. Readers may call it.';
