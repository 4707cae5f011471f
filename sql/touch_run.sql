create or replace function lexichord.touch_run(run_id bigint) returns void
language sql set search_path = pg_catalog, lexichord_data, pg_temp as $$
    update run set seen_at = clock_timestamp() where id = run_id
$$;
comment on function lexichord.touch_run(bigint) is 'A sign of life of an ingest; without one for 60 s it counts as stalled.';
