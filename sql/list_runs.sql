create or replace function lexichord.list_runs(latest integer default 5) returns table (
    run_id bigint, dataset text, source text, started_at timestamptz, finished_at timestamptz,
    inserted bigint, replaced bigint, skipped bigint, failed bigint, failures jsonb)
language sql stable set search_path = lexichord_data, pg_catalog, pg_temp as $$
    select r.id, r.dataset, r.source, r.started_at, r.finished_at,
           count(*) filter (where f.status = 'inserted'), count(*) filter (where f.status = 'replaced'),
           count(*) filter (where f.status = 'skipped'), count(*) filter (where f.status = 'failed'),
           coalesce(jsonb_object_agg(f.uri, f.reason) filter (where f.status = 'failed'), '{}')
    from (select * from run order by id desc limit latest) as r left join run_file f on f.run_id = r.id
    group by r.id, r.dataset, r.source, r.started_at, r.finished_at
    order by r.id desc
$$;
comment on function lexichord.list_runs(integer) is 'The latest ingests, newest first, with what became of their files; finished_at null = still going, or cut off.';
