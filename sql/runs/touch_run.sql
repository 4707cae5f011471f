-- Whoever cancels an ingest is in another process, most often: here it learns of that.
create or replace function lexichord.touch_run(run_id bigint, in_progress jsonb default null) returns boolean
language sql set search_path = pg_catalog, lexichord_data, pg_temp as $$
    update run r set seen_at = clock_timestamp(), in_progress = coalesce(touch_run.in_progress, r.in_progress) where r.id = run_id
    returning r.cancelled_at is null
$$;
comment on function lexichord.touch_run(bigint, jsonb) is
'A sign of life of an ingest; without one for 60 s it counts as stalled. It may say how far its files are: {uri: {"chunks": …, "embedded": …}}. Returns whether it is to go on.';
