create or replace function lexichord.compare_evaluations(a bigint, b bigint) returns table (
    metric text, query_id text, a_value double precision, b_value double precision, difference double precision)
language plpgsql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    of_a bigint := (select e.set_id from evaluation e where e.id = a);
    of_b bigint := (select e.set_id from evaluation e where e.id = b);
    problem text := case
        when of_a is null then format('there is no evaluation %s', a)
        when of_b is null then format('there is no evaluation %s', b)
        when of_a <> of_b then format('evaluations %s and %s are of different questions or judgments', a, b)
    end;
begin
    if problem is not null then
        raise exception '%', problem
            using errcode = 'invalid_parameter_value', hint = 'See list_evaluations().';
    end if;
    return query
        select m.name, r.query_id, m.value::double precision, n.value::double precision,
               n.value::double precision - m.value::double precision
        from evaluation e
        join evaluation_query q on q.set_id = e.set_id
        join evaluation_result r on r.evaluation_id = e.id and r.query_id = q.query_id
        join evaluation_result o on o.evaluation_id = b and o.query_id = q.query_id
        cross join jsonb_each_text(r.metrics) as m (name, value)
        join lateral jsonb_each_text(o.metrics) as n (name, value) on n.name = m.name
        where e.id = a and m.value is not null and n.value is not null
        order by m.name, q.place;
end $$;
comment on function lexichord.compare_evaluations(bigint, bigint) is
'How each question fares in evaluation b against a, by each metric that judges it in both; difference is b less a. Raises an error unless both are of the same set.';
