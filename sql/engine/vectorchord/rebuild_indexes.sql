create or replace function lexichord.rebuild_indexes() returns boolean
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
begin
    if not exists (select from chunk) then
        return false;
    end if;
    perform lexichord.hold_writers();
    perform lexichord_data.build_dense_index();
    perform lexichord.unseal_keywords();
    perform lexichord.refresh_impacts(anyway => true);
    perform lexichord.seal_keywords();
    analyze chunk, term, keyword;
    return true;
end $$;
comment on function lexichord.rebuild_indexes() is
'Builds both indexes anew, with what fits the table as it is now; returns whether there are chunks.';
