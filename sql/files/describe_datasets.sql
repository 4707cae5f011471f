create or replace function lexichord.describe_datasets(
    datasets text[] default null, page_size bigint default null, descending boolean default true,
    past_at timestamptz default null, past_key text default null
) returns table (dataset text, details jsonb, created_at timestamptz, byte_count bigint, in_progress bigint, completed bigint,
                 cancelled bigint, failed bigint)
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    with page as materialized (
        select s.* from dataset s
        where (datasets is null or s.name = any(datasets))
          and (past_at is null or case when descending then (s.created_at, s.name) < (past_at, past_key)
                                       else (s.created_at, s.name) > (past_at, past_key) end)
        order by case when descending then s.created_at end desc, case when descending then s.name end desc, s.created_at, s.name
        limit lexichord.check_count('page_size', page_size)
    )
    select p.name, p.details, p.created_at, f.byte_count, f.in_progress, f.completed, f.cancelled, f.failed
    from page p, lateral (
        select coalesce(sum(f.byte_count), 0)::bigint as byte_count, count(*) filter (where f.state = 'in_progress') as in_progress,
               count(*) filter (where f.state = 'completed') as completed,
               count(*) filter (where f.state = 'cancelled') as cancelled, count(*) filter (where f.state = 'failed') as failed
        from lexichord.list_dataset_files(p.name) as f) as f
    order by case when descending then p.created_at end desc, case when descending then p.name end desc, p.created_at, p.name
$$;
comment on function lexichord.describe_datasets(text[], bigint, boolean, timestamptz, text) is
'Datasets with their details, and how many files each holds in which state; a page past a dataset''s time and name.';
