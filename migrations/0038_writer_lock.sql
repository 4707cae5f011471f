-- What writers share and hold_writers takes alone is a lock of a table: an advisory one is anybody's who may connect, and
-- who held it stopped all writers without a right of their own. It has a column, for pg_dump's COPY of a table without
-- one does not restore.
create table if not exists lexichord_data.writer_lock (never_stored boolean);
create or replace function lexichord_data.join_writers() returns void
language sql set search_path = pg_catalog, lexichord_data, pg_temp as $$
    lock table lexichord_data.writer_lock in row exclusive mode
$$;
