-- A filter that would silently match nothing is refused: unknown keys, operators and shapes.
create or replace function lexichord.check_filter(filter jsonb, documents bigint[]) returns void
language plpgsql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    form text := lexichord.filter_form(filter);
    operator text;
    wanted text;
    part jsonb;
begin
    if form in ('and', 'or') then
        for part in select jsonb_array_elements(filter -> form) loop
            perform lexichord.check_filter(part, documents);
        end loop;
        return;
    end if;
    if form = 'condition' then
        operator := lexichord.filter_operator(filter ->> 'op');
        wanted := case
            when operator in ('empty', 'not empty') then null
            when operator in ('in', 'nin') then 'array'
            when operator in ('contains', 'not contains', 'start with', 'end with', 'before', 'after') then 'string'
            when operator in ('gt', 'gte', 'lt', 'lte') and jsonb_typeof(filter -> 'value') is distinct from 'number' then 'string'
        end;
        if wanted <> jsonb_typeof(filter -> 'value') or (wanted is not null and not filter ? 'value')
           or (operator in ('eq', 'ne') and not filter ? 'value') then
            raise exception 'filter: operator "%" on key "%" needs a value of type %', operator, filter ->> 'key', coalesce(wanted, 'any')
                using errcode = 'invalid_parameter_value';
        end if;
        if operator in ('before', 'after') and not lexichord.is_date(filter ->> 'value') then
            raise exception 'filter: "%" is no date', filter ->> 'value'
                using errcode = 'invalid_parameter_value', hint = 'Write it as 2026-01-31 or 2026-01-31T12:00:00Z.';
        end if;
    end if;
    -- Another shard has documents with the keys.
    if current_setting('lexichord.keys_are_known', true) = 'on' then
        return;
    end if;
    for wanted in select filter ->> 'key' where form = 'condition'
                  union all select jsonb_object_keys(filter) where form = 'containment' loop
        continue when wanted in ('dataset', 'uri', 'title', 'media_type', 'folder');  -- built in: document_facts
        if not exists (select from document d where d.metadata ? wanted and d.id = any(documents)) then
            raise exception 'filter: no document in scope has the key "%"', wanted
                using errcode = 'invalid_parameter_value', hint = 'select * from lexichord.list_keys();';
        end if;
    end loop;
end $$;
comment on function lexichord.check_filter(jsonb, bigint[]) is
'Raises an error if a filter has an unknown shape, key or operator, or a value that its operator cannot use.';
