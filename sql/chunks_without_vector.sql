create or replace function lexichord.chunks_without_vector(after bigint, batch integer) returns table (chunk_id bigint, context text, content text)
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select c.id, c.context, c.content from chunk c
    where c.embedding is null and c.id > coalesce(after, 0) order by c.id limit batch
$$;
comment on function lexichord.chunks_without_vector(bigint, integer) is
'The next chunks, by id, that were stored without an embedder.';
