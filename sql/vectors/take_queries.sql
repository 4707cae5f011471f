create or replace function lexichord.take_queries(most integer) returns table (digest bytea, query text)
language sql set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select v.digest, v.query from query_vector v
    where v.query <> '' and v.embedding is null and v.fault is null and v.space = (select b.space from lexichord.bound_space() as b)
    order by v.requested_at limit most for update skip locked
$$;
comment on function lexichord.take_queries(integer) is 'Locks queries that wait for their vector and that no other worker has, the oldest first.';
