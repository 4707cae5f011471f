-- What writers share and hold_writers takes alone is a lock of a table: an advisory one is anybody's who may connect, and
-- who held it stopped all writers without a right of their own.
create table if not exists lexichord_data.writer_lock ();
create or replace function lexichord_data.join_writers() returns void
language sql set search_path = pg_catalog, lexichord_data, pg_temp as $$
    lock table lexichord_data.writer_lock in row exclusive mode
$$;
