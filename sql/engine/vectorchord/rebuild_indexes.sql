create or replace function lexichord.rebuild_indexes() returns boolean
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
begin
    if not exists (select from chunk) then
        return false;
    end if;
    perform lexichord_data.build_index('chunk_dense'), lexichord_data.build_index('chunk_keyword');
    analyze chunk, term;
    return true;
end $$;
comment on function lexichord.rebuild_indexes() is
'Builds both indexes anew, with what fits the table as it is now; returns whether there are chunks.';
