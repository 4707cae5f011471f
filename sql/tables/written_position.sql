create or replace function lexichord.written_position() returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
    select case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_insert_lsn() end::text
$$;
comment on function lexichord.written_position() is
'The position in the write-ahead log after all that was written before: a replica that has reached it has all of that. Readers may call it.';
