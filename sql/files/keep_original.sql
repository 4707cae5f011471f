create or replace function lexichord.keep_original(document bigint, content bytea) returns boolean
language sql set search_path = pg_catalog, lexichord_data, pg_temp as $$
    with kept as (
        insert into original (document_id, sha256, content)
        select d.id, d.sha256, keep_original.content from document d
        where d.id = keep_original.document and d.sha256 = encode(sha256(keep_original.content), 'hex')
        on conflict (document_id) do update set sha256 = excluded.sha256, content = excluded.content
        returning document_id)
    select exists (select from kept)
$$;
comment on function lexichord.keep_original(bigint, bytea) is
'Keeps the bytes that a document was read from; false, and nothing changes, where there is no such document or its digest is another.';
