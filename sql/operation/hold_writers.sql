create or replace function lexichord.hold_writers() returns void
language sql set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select pg_advisory_xact_lock(hashtextextended('lexichord.write', 0))
$$;
comment on function lexichord.hold_writers() is
'Has everybody who stores or deletes documents wait until the transaction ends; searches go on.';
