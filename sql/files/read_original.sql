create or replace function lexichord.read_original(document bigint) returns bytea
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select coalesce(
        (select o.content from original o where o.document_id = d.id and d.sha256 = o.sha256),
        (select f.content from dataset_file x join file f on f.id = x.file_id
         where x.dataset_id = d.dataset_id and f.sha256 = d.sha256 limit 1))
    from document d where d.id = read_original.document
$$;
comment on function lexichord.read_original(bigint) is
'The bytes that a document was read from, null where they were not kept. Readers may call it.';
