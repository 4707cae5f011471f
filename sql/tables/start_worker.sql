create or replace function lexichord.start_worker(host text) returns bigint
language sql set search_path = pg_catalog, lexichord_data, pg_temp as $$
    delete from worker w where w.seen_at < now() - interval '1 day';
    insert into worker (host) values (host) returning id
$$;
comment on function lexichord.start_worker(text) is 'Records a worker that starts, on a machine of this name; returns its number.';
