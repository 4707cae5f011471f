-- The number is that of sql/engine/hnsw/vector_index.sql.
create or replace function lexichord.vector_index(vectors text)
returns table (index_name text, definition text, by_size boolean, settings jsonb)
language sql immutable parallel safe rows 1 set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select 'chunk_hnsw', format('chunk_vector using hnsw (%I @extschema:vector@.halfvec_cosine_ops) with (ef_construction = 128)', vectors), false, '{}'::jsonb
$$;
comment on function lexichord.vector_index(text) is
'The vector index''s name, what one over a column of vectors is made on and by, whether by how many chunks there are, and what must be set to explain a search of it. Internal. Readers may call it.';
