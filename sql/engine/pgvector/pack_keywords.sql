-- Rows that came since are scanned in memory; build_indexes writes them to a segment, which takes milliseconds.
create or replace function lexichord.pack_keywords(written bigint default null) returns boolean
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
    perform lexichord.build_indexes();
    return true;
end $$;
comment on function lexichord.pack_keywords(bigint) is
'Tidies the keyword index after so many chunks were written anew, if they are enough to slow searches down; null = in any case. Returns whether it did.';
