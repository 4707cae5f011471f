create or replace function lexichord.swap_indexes() returns void
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp set client_min_messages = warning as $$
begin
    alter index if exists chunk_hnsw rename to chunk_hnsw_swapped;
    alter index if exists chunk_hnsw_other rename to chunk_hnsw;
    alter index if exists chunk_hnsw_swapped rename to chunk_hnsw_other;
end $$;
comment on function lexichord.swap_indexes() is 'The part of swap_spaces that concerns the vector indexes.';
