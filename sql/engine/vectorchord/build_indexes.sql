create or replace function lexichord.build_indexes() returns boolean
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
begin
    perform lexichord_data.build_index(o.index_name) from lexichord.outgrown_indexes() as o;
    if found then
        analyze chunk, term;
    end if;
    return found;
end $$;
comment on function lexichord.build_indexes() is
'Builds the vector and the keyword index, once there are chunks, and tidies the keyword index after a load; returns whether there was something to build.';
