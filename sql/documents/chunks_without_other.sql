create or replace function lexichord.chunks_without_other(after bigint, batch integer)
returns table (chunk_id bigint, context text, content text, row_version text)
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select c.id, c.context, c.content, c.xmin::text from chunk c
    where c.other_embedding is null and c.id > coalesce(after, 0) order by c.id limit batch
$$;
comment on function lexichord.chunks_without_other(bigint, integer) is
'The next chunks, by id, without a vector of the space that the database changes to, or has left; row_version is for set_other_vectors.';
