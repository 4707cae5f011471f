-- Loading first and building after is several times faster than building while loading, so an empty table
-- has no index.
create or replace function lexichord.build_indexes() returns boolean
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp set client_min_messages = warning as $$
declare
    outgrown text[];
begin
    if exists (select from lexichord.outgrown_indexes()) then
        perform lexichord.hold_writers();  -- before the table: else there are deadlocks
    end if;
    outgrown := array(select o.index_name from lexichord.outgrown_indexes() as o);
    if 'chunk_hnsw' = any(outgrown) then  -- who is not the owner may not even try
        create index if not exists chunk_hnsw on chunk using hnsw (embedding @extschema:vector@.halfvec_cosine_ops);
    end if;
    perform lexichord.refresh_impacts();
    perform lexichord.seal_keywords();
    perform lexichord.fold_statistics();  -- last: others may wait for the terms that it changes
    if outgrown <> '{}' then
        analyze chunk, term, keyword, posting;
    end if;
    return outgrown <> '{}';
end $$;
comment on function lexichord.build_indexes() is
'Builds the vector and the keyword index, once there are chunks; returns whether there was something to build.';
