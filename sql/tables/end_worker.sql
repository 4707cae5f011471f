create or replace function lexichord.end_worker(worker bigint) returns void
language sql set search_path = pg_catalog, lexichord_data, pg_temp as $$
    delete from worker w where w.id = end_worker.worker
$$;
comment on function lexichord.end_worker(bigint) is 'Forgets a worker that ends.';
