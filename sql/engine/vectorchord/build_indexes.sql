create or replace function lexichord.build_indexes() returns boolean
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    outgrown text[];
begin
    if exists (select from lexichord.outgrown_indexes()) then
        perform lexichord.hold_writers();  -- before the table: else there are deadlocks
    end if;
    outgrown := array(select o.index_name from lexichord.outgrown_indexes() as o);
    if 'chunk_dense' = any(outgrown) then
        perform lexichord_data.build_dense_index();
    end if;
    perform lexichord.refresh_impacts();
    perform lexichord.seal_keywords();
    perform lexichord.fold_statistics();  -- last: others may wait for the terms that it changes
    if outgrown <> '{}' then
        analyze chunk, term, keyword;
    end if;
    return outgrown <> '{}';
end $$;
comment on function lexichord.build_indexes() is
'Builds the vector and the keyword index, once there are chunks; returns whether there was something to build.';
