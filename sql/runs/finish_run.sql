create or replace function lexichord.finish_run(run_id bigint) returns void
language sql set search_path = pg_catalog, lexichord_data, pg_temp as $$
    update run set finished_at = now() where id = run_id
$$;
comment on function lexichord.finish_run(bigint) is 'Closes the record of an ingest.';
