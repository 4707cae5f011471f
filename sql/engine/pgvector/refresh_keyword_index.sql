-- The lock on the table comes first, so that no writer is between its rows and its mark.
create or replace function lexichord.refresh_keyword_index() returns boolean
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
    if not exists (select from lexichord_data.unsaved_keywords) then
        return false;
    end if;
    lock table lexichord_data.chunk in share mode;
    reindex index lexichord_data.chunk_bm25;
    delete from lexichord_data.unsaved_keywords;
    return true;
end $$;
comment on function lexichord.refresh_keyword_index() is
'Builds the keyword index again from the stored lexemes, if rows came after it was built; searching and writing wait. Returns whether it did.';
