-- A row that is written anew waits, as a new one, in the part that every query reads whole, but has no new id by which
-- outgrown_indexes would notice.
create or replace function lexichord.pack_keywords(written bigint default null) returns boolean
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
begin
    if written <= (select lexichord_data.tolerable_unpacked(n.chunk_count) from corpus n)
       or to_regclass('lexichord_data.chunk_keyword') is null then
        return false;
    end if;
    perform lexichord_data.build_index('chunk_keyword');
    return true;
end $$;
comment on function lexichord.pack_keywords(bigint) is
'Tidies the keyword index after so many chunks were written anew, if they are enough to slow searches down; null = in any case. Returns whether it did.';
