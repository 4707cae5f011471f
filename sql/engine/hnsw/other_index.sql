create or replace function lexichord.other_index() returns table (index_name text, definition text)
language sql stable rows 1 set search_path = pg_catalog, pg_temp as $$
    select 'chunk_hnsw', 'hnsw (other_embedding @extschema:vector@.halfvec_cosine_ops)'
$$;
comment on function lexichord.other_index() is
'The vector index''s name, and what the one over the vectors of another space is made by.';
