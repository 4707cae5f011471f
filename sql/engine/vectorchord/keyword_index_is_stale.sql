-- A standby has an epoch of its own, and cannot build an index.
create or replace function lexichord.keyword_index_is_stale() returns boolean
language sql stable set search_path = pg_catalog, pg_temp as $$
    select not pg_is_in_recovery()
       and exists (select from lexichord_data.unsaved_keywords u where u.epoch <> lexichord_data.server_epoch())
$$;
comment on function lexichord.keyword_index_is_stale() is
'Whether the keyword index may be damaged by a crash of the server; refresh_keyword_index mends it.';
