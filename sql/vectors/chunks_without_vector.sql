create or replace function lexichord.chunks_without_vector(
    after bigint, batch integer
) returns table (chunk_id bigint, context text, content text, uri text, missing bigint)
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    with next as materialized (
        select c.id, c.document_id, c.context, c.content from chunk c
        where c.embedding is null and c.id > coalesce(after, 0) order by c.id limit batch),
    lacking as (
        select c.document_id, count(*) as missing from chunk c
        where c.embedding is null and c.document_id in (select n.document_id from next n) group by c.document_id)
    select n.id, n.context, n.content, d.uri, l.missing
    from next n join lacking l using (document_id) join document d on d.id = n.document_id order by n.id
$$;
comment on function lexichord.chunks_without_vector(bigint, integer) is
'The next chunks, by id, that were stored without an embedder, each with its document''s uri and how many that document has. Readers may call it.';
