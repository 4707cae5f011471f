create or replace function lexichord.list_workers() returns table (worker bigint, host text, started_at timestamptz, seen_at timestamptz, is_resting boolean)
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select w.id, w.host, w.started_at, w.seen_at, coalesce(w.resting_until > clock_timestamp(), false) from worker w order by w.id
$$;
comment on function lexichord.list_workers() is 'The workers of indexed tables: since when, when last seen, and whether they rest. Readers may call it.';
