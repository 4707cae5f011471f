create or replace function lexichord.forget_evaluations(older_than interval) returns bigint
language sql set search_path = pg_catalog, lexichord_data, pg_temp as $$
    with gone as (
        delete from evaluation e where e.started_at <= now() - older_than returning e.id
    ), unused as (
        delete from evaluation_set s
        where not exists (select from evaluation e where e.set_id = s.id and e.id not in (select g.id from gone g))
    )
    select count(*) from gone
$$;
comment on function lexichord.forget_evaluations(interval) is
'Deletes evaluations older than that, with interval ''0'' all, and the questions that no other one asked; returns how many there were.';
