create or replace function lexichord.list_evaluations(latest integer default 20) returns table (
    evaluation_id bigint, set_name text, strategy text, started_at timestamptz, queries bigint, failed bigint,
    p50_ms double precision, p95_ms double precision, qps jsonb, means jsonb, ks integer[], settings jsonb, version text)
language sql stable rows 20 set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select e.id, s.name, e.strategy, e.started_at, r.queries, r.failed, r.p50, r.p95, e.qps, m.means,
           e.ks, e.settings, e.version
    from (select * from evaluation order by id desc limit lexichord.check_count('latest', latest)) as e
    join evaluation_set s on s.id = e.set_id
    cross join lateral (
        select count(*) as queries, count(o.error) as failed,
               percentile_cont(0.5) within group (order by o.ms) filter (where o.error is null) as p50,
               percentile_cont(0.95) within group (order by o.ms) filter (where o.error is null) as p95
        from evaluation_result o where o.evaluation_id = e.id
    ) as r
    cross join lateral (
        select coalesce(jsonb_object_agg(v.name, v.mean) filter (where v.mean is not null), '{}') as means
        from (select n.name, avg(n.value::double precision) as mean
              from evaluation_result o, jsonb_each_text(o.metrics) as n (name, value)
              where o.evaluation_id = e.id
              group by n.name) as v
    ) as m
    where coalesce(lexichord.check_count('latest', latest), 0) >= 0 -- said where a plan finds no set first, too
    order by e.id desc
$$;
comment on function lexichord.list_evaluations(integer) is
'The latest evaluations, newest first: milliseconds of the questions that did not fail, and each metric''s mean over those that are judged by it.';
