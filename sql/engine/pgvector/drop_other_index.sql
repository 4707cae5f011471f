create or replace function lexichord.drop_other_index() returns void
language sql set search_path = pg_catalog, lexichord_data, pg_temp set client_min_messages = warning as $$
    drop index if exists chunk_hnsw_other
$$;
comment on function lexichord.drop_other_index() is 'The part of drop_other that concerns the vector index.';
