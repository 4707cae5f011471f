create or replace function lexichord.forget_queries(older_than interval) returns bigint
language sql set search_path = pg_catalog, lexichord_data, pg_temp as $$
    with gone as (delete from query q where q.asked_at <= now() - older_than returning q.id)
    select count(*) from gone
$$;
comment on function lexichord.forget_queries(interval) is
'Deletes recorded queries older than that with their hits, with interval ''0'' all; returns how many there were.';
