create or replace function lexichord.refresh_keyword_index() returns boolean
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
    if not exists (select from lexichord_data.unsaved_keywords) then
        return false;
    end if;
    perform lexichord_data.build_index('chunk_keyword');
    return true;
end $$;
comment on function lexichord.refresh_keyword_index() is
'Builds the keyword index again, if rows were written after it was built; searching goes on, writing waits. Returns whether it did.';
