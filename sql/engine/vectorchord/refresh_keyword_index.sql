-- Never needed for right answers; packs the rows that came since the index was built, and drops the deleted ones.
create or replace function lexichord.refresh_keyword_index() returns boolean
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
    if to_regclass('lexichord_data.chunk_keyword') is null then
        return false;
    end if;
    reindex index lexichord_data.chunk_keyword;
    return true;
end $$;
comment on function lexichord.refresh_keyword_index() is
'Builds the keyword index again from the stored vectors; searching and writing wait. Returns whether it did.';
