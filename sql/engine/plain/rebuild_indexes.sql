create or replace function lexichord.rebuild_indexes() returns boolean
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
begin
    perform lexichord.hold_writers();
    drop index if exists chunk_hnsw;
    perform lexichord.unseal_keywords();
    perform lexichord.refresh_impacts(anyway => true);
    return lexichord.build_indexes();
end $$;
comment on function lexichord.rebuild_indexes() is
'Builds both indexes anew; searching and writing wait. Returns whether there are chunks.';
