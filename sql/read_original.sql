create or replace function lexichord.read_original(document bigint) returns bytea
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select o.content from original o join document d on d.id = o.document_id
    where d.id = read_original.document and d.sha256 = o.sha256
$$;
comment on function lexichord.read_original(bigint) is
'The bytes that a document was read from, null where they were not kept.';
