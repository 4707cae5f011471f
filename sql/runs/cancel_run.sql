create or replace function lexichord.cancel_run(run_id bigint) returns void
language sql set search_path = pg_catalog, lexichord_data, pg_temp as $$
    update run set cancelled_at = now() where id = run_id and finished_at is null
$$;
comment on function lexichord.cancel_run(bigint) is
'Has an ingest end, of whichever process: it does at its next sign of life, within ten seconds, and is interrupted then, or finished before it; one that was cut off gives no more, and is interrupted.';
