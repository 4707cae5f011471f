create or replace function lexichord.list_runs(
    latest integer default 5, datasets text[] default null, runs bigint[] default null
) returns table (
    run_id bigint, dataset text, source text, state text, started_at timestamptz, seen_at timestamptz,
    finished_at timestamptz, total bigint, done bigint,
    inserted bigint, replaced bigint, skipped bigint, failed bigint, deleted bigint, failures jsonb, unread jsonb,
    in_progress jsonb)
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select r.id, r.dataset, r.source,
           case when r.finished_at = 'infinity' then 'interrupted' when r.finished_at is not null then 'finished'
                when r.seen_at >= clock_timestamp() - interval '60 s' then 'running'
                when r.cancelled_at is not null then 'interrupted' else 'stalled' end,
           r.started_at, r.seen_at, nullif(r.finished_at, 'infinity'), r.total, count(f) filter (where f.status <> 'unread'),
           count(*) filter (where f.status = 'inserted'), count(*) filter (where f.status = 'replaced'),
           count(*) filter (where f.status = 'skipped'), count(*) filter (where f.status = 'failed'),
           count(*) filter (where f.status = 'deleted'),
           coalesce(jsonb_object_agg(f.uri, f.reason) filter (where f.status = 'failed'), '{}'),
           (select coalesce(jsonb_object_agg(k.reason, k.files), '{}')
            from (select u.reason, count(*) as files from run_file u
                  where u.run_id = r.id and u.status = 'unread' group by u.reason) as k),
           (select coalesce(jsonb_object_agg(p.key, p.value), '{}') from jsonb_each(r.in_progress) as p
            where (r.finished_at is null or r.finished_at = 'infinity')
              and not exists (select from run_file u where u.run_id = r.id and u.uri = p.key and u.status <> 'skipped'))
    from (
        select * from run
        where (datasets is null or dataset = any(datasets)) and (runs is null or id = any(runs))
        order by id desc limit lexichord.check_count('latest', latest)) as r left join run_file f on f.run_id = r.id
    group by r.id, r.dataset, r.source, r.started_at, r.seen_at, r.finished_at, r.cancelled_at, r.total, r.in_progress
    order by r.id desc
$$;
comment on function lexichord.list_runs(integer, text[], bigint[]) is
'The latest ingests, of these datasets and among these runs if such are named, newest first, with what became of their files, how many of which kinds could not be read, and how far those are that it has at hand. State: finished, running, interrupted, or stalled: no sign of life for 60 s, cut off, and not cancelled.';
