create or replace function lexichord.interrupt_run(run_id bigint) returns void
language sql set search_path = pg_catalog, lexichord_data, pg_temp as $$
    update run set seen_at = clock_timestamp(), finished_at = 'infinity' where id = run_id and finished_at is null
$$;
comment on function lexichord.interrupt_run(bigint) is
'Marks an ingest that ends before its end as interrupted.';
