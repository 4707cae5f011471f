-- One name for each operator, whichever of the two common vocabularies the caller speaks.
create or replace function lexichord.filter_operator(name text) returns text
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
    select case name
        when '=' then 'eq' when 'is' then 'eq' when '≠' then 'ne' when 'is not' then 'ne'
        when '>' then 'gt' when '≥' then 'gte' when '<' then 'lt' when '≤' then 'lte' when 'not in' then 'nin'
        else case when name in ('eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'nin', 'contains', 'not contains', 'start with', 'end with',
                                'empty', 'not empty', 'before', 'after') then name end
    end
$$;
comment on function lexichord.filter_operator(text) is
'The canonical name of a filter operator; null for an unknown one. Internal. Readers may call it.';
