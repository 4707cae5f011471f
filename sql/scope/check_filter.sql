-- A filter that would silently match nothing is refused: unknown keys, operators and shapes.
create or replace function lexichord.check_filter(filter jsonb, documents bigint[], out message text, out hint text)
language plpgsql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    built_in constant text[] := '{dataset,uri,title,media_type,folder}';  -- document_facts
    operators constant text := 'eq ne gt gte lt lte in nin, contains, not contains, start with, end with, empty, not empty, before, after';
    form text := lexichord.filter_form(filter);
    operator text;
    wanted text;
begin
    if form is null then
        message := format('filter: %s is no filter', coalesce(filter::text, 'null'));
        hint := 'Write {"key": value}, {"key": …, "op": …, "value": …}, {"and": […]} or {"or": […]}.';
        return;
    elsif form in ('and', 'or') then
        select f.message, f.hint into message, hint
        from jsonb_array_elements(filter -> form) with ordinality as p (part, place), lexichord.check_filter(p.part, documents) as f
        where f.message is not null order by p.place limit 1;
        return;
    end if;
    if form = 'condition' then
        operator := lexichord.filter_operator(filter ->> 'op');
        if operator is null then
            message := 'filter: unknown operator ' || coalesce(quote_literal(filter ->> 'op'), 'null');
            hint := 'Operators: ' || operators || '.';
            return;
        end if;
        wanted := case
            when operator in ('empty', 'not empty') then null
            when operator in ('in', 'nin') then 'array'
            when operator in ('contains', 'not contains', 'start with', 'end with', 'before', 'after') then 'string'
            when operator in ('gt', 'gte', 'lt', 'lte') and jsonb_typeof(filter -> 'value') is distinct from 'number' then 'string'
        end;
        if wanted <> jsonb_typeof(filter -> 'value') or (wanted is not null and not filter ? 'value')
           or (operator in ('eq', 'ne') and not filter ? 'value') then
            message := format('filter: operator "%s" on key "%s" needs a value of type %s', operator, filter ->> 'key', coalesce(wanted, 'any'));
            hint := 'Write {"key": …, "op": …, "value": …}.';
            return;
        elsif operator in ('before', 'after') and not lexichord.is_date(filter ->> 'value') then
            message := format('filter: "%s" is no date', filter ->> 'value');
            hint := 'Write it as 2026-01-31 or 2026-01-31T12:00:00Z.';
            return;
        end if;
    end if;
    if form = 'containment' then
        select format('filter: %s on key "%s" is an operator of another language', to_json(o), e.key),
               format('Write {"key": %s, "op": %s, "value": %s}. Operators: %s.', to_json(e.key),
                      coalesce(to_json(lexichord.filter_operator(substr(o, 2)))::text, '…'), e.value -> o, operators)
        into message, hint
        from jsonb_each(filter) as e, jsonb_object_keys(case jsonb_typeof(e.value) when 'object' then e.value else '{}' end) as o
        where starts_with(o, '$') order by e.key, o limit 1;
        if message is not null then
            return;
        end if;
    end if;
    -- Whoever asks knows that there may be none.
    if current_setting('lexichord.keys_are_known', true) = 'on' then
        return;
    end if;
    for wanted in select filter ->> 'key' where form = 'condition'
                  union all select jsonb_object_keys(filter) where form = 'containment' loop
        if wanted <> all(built_in) and not exists (select from document d where d.metadata ? wanted and d.id = any(documents)) then
            message := format('filter: no document in scope has the key "%s"', wanted);
            hint := 'Take one of ' || lexichord.name_choices(array[wanted], built_in || array(
                select distinct k from (select d.metadata from document d where d.id = any(documents) limit 10000) as d, jsonb_object_keys(d.metadata) as k));
            return;
        end if;
    end loop;
end $$;
comment on function lexichord.check_filter(jsonb, bigint[]) is
'What is wrong with a filter, and what to write, null where nothing is: an unknown shape, key or operator, or a value that its operator cannot use. Internal. Readers may call it.';
