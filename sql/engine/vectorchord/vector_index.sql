create or replace function lexichord.vector_index(vectors text)
returns table (index_name text, definition text, by_size boolean, settings jsonb)
language sql stable rows 1 set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select 'chunk_dense', format('chunk using vchordrq (%I @extschema:vchord@.halfvec_cosine_ops) %s', vectors, lexichord_data.dense_storage(n.chunk_count)), true,
           jsonb_build_object('vchordrq.probes', p.probes, 'vchordrq.enable_scan', 'on')
    from corpus_statistics n, lexichord_data.dense_probes() as p
$$;
comment on function lexichord.vector_index(text) is
'The vector index''s name, what one over a column of vectors is made on and by, whether by how many chunks there are, and what must be set to explain a search of it. Internal. Readers may call it.';
