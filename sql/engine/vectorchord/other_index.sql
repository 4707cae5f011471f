create or replace function lexichord.other_index() returns table (index_name text, definition text)
language sql stable rows 1 set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select 'chunk_dense', 'vchordrq (other_embedding @extschema:vchord@.halfvec_cosine_ops) ' || lexichord_data.dense_storage(n.chunk_count)
    from corpus_statistics n
$$;
comment on function lexichord.other_index() is
'The vector index''s name, and what the one over the vectors of another space is made by.';
