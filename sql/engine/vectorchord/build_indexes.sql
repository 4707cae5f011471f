create or replace function lexichord.build_indexes() returns boolean
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    outgrown text[];
begin
    perform pg_advisory_xact_lock(hashtextextended('lexichord.build_indexes', 0));  -- two at once would be in a deadlock
    outgrown := array(select o.index_name from lexichord.outgrown_indexes() as o);
    if 'chunk_dense' = any(outgrown) then
        perform lexichord_data.build_dense_index();
    end if;
    perform lexichord.seal_keywords();
    perform lexichord.refresh_impacts();
    if outgrown <> '{}' then
        analyze chunk, term, keyword;
    end if;
    return outgrown <> '{}';
end $$;
comment on function lexichord.build_indexes() is
'Builds the vector and the keyword index, once there are chunks; returns whether there was something to build.';
