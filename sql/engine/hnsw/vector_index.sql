-- Texts that say nearly the same, as contracts do, are neighbours of each other alone where few candidates are looked at for
-- each. Of 100,000 windows of contracts at 64 candidates, pgvector's default, 96, 128 and 200 (hnsw.ef_search 100): recall@10
-- .942, .968, .968 and .981, built in 22, 30, 41 and 63 s; of a million .79, –, .84 and .88 in 263, –, 356 and 637 s.
create or replace function lexichord.vector_index(vectors text)
returns table (index_name text, definition text, by_size boolean, settings jsonb)
language sql immutable parallel safe rows 1 set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select 'chunk_hnsw', format('chunk using hnsw (%I @extschema:vector@.halfvec_cosine_ops) with (ef_construction = 128)', vectors), false, '{}'::jsonb
$$;
comment on function lexichord.vector_index(text) is
'The vector index''s name, what one over a column of vectors is made on and by, whether by how many chunks there are, and what must be set to explain a search of it. Internal. Readers may call it.';
