-- The lock of a table, which takes a right on it: see join_writers.
create or replace function lexichord.hold_writers() returns void
language sql set search_path = pg_catalog, lexichord_data, pg_temp as $$
    lock table lexichord_data.writer_lock in exclusive mode
$$;
comment on function lexichord.hold_writers() is
'Has everybody who stores or deletes documents wait until the transaction ends; searches go on.';
