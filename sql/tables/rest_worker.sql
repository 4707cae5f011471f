create or replace function lexichord.rest_worker(worker bigint, seconds double precision) returns boolean
language sql set search_path = pg_catalog, lexichord_data, pg_temp as $$
    with rested as (
        update worker w set seen_at = clock_timestamp(), resting_until = clock_timestamp() + make_interval(secs => seconds)
        where w.id = rest_worker.worker returning 1)
    select exists (select from rested)
$$;
comment on function lexichord.rest_worker(bigint, double precision) is
'Says that a worker rests for so long: who changes an indexed table meanwhile wakes it. 0 = it does not rest. False = it is not known.';
