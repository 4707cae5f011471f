-- One name for each operator, whichever of the two common vocabularies the caller speaks.
create or replace function lexichord.filter_operator(name text) returns text
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
declare
    operator text := case name
        when '=' then 'eq' when 'is' then 'eq' when '≠' then 'ne' when 'is not' then 'ne'
        when '>' then 'gt' when '≥' then 'gte' when '<' then 'lt' when '≤' then 'lte'
        when 'not in' then 'nin' else name end;
begin
    if operator is null or operator not in (
        'eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'nin', 'contains', 'not contains',
        'start with', 'end with', 'empty', 'not empty', 'before', 'after') then
        raise exception 'filter: unknown operator %', coalesce(quote_literal(name), 'null')
            using errcode = 'invalid_parameter_value',
                  hint = 'Operators: eq ne gt gte lt lte in nin, contains, not contains, start with, end with, empty, not empty, before, after.';
    end if;
    return operator;
end $$;
comment on function lexichord.filter_operator(text) is
'The canonical name of a filter operator; an unknown one is an error.';
