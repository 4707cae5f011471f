-- How many said so stands beside the counts of what was found; who it was is not kept.
create or replace function lexichord.judge_query(query_id bigint, is_right boolean) returns void
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    judgment text := case is_right when true then 'right' when false then 'wrong' end;
begin
    update query q set counts = q.counts || jsonb_build_object(judgment, coalesce((q.counts ->> judgment)::integer, 0) + 1)
    where q.id = judge_query.query_id;
    if not found then
        raise exception 'there is no recorded query %', query_id
            using errcode = 'no_data_found', hint = 'select * from lexichord.list_queries();';
    end if;
end $$;
comment on function lexichord.judge_query(bigint, boolean) is
'Counts that somebody found the answer to a recorded query right, or wrong: in its counts as right and wrong.';
