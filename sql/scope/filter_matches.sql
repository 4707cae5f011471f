-- A key that a document lacks fails every condition but the negative ones (ne, nin, not contains, empty).
create or replace function lexichord.filter_matches(metadata jsonb, filter jsonb) returns boolean
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
    form text := lexichord.filter_form(filter);
    had jsonb := metadata -> (filter ->> 'key');
    wanted jsonb := filter -> 'value';
    operator text;
begin
    case form
        when 'containment' then return metadata @> filter;
        when 'and' then return coalesce((select bool_and(lexichord.filter_matches(metadata, f)) from jsonb_array_elements(filter -> 'and') as f), true);
        when 'or' then return coalesce((select bool_or(lexichord.filter_matches(metadata, f)) from jsonb_array_elements(filter -> 'or') as f), false);
        else null;
    end case;
    operator := lexichord.filter_operator(filter ->> 'op');
    if operator is null then
        return null;
    end if;
    return case operator
        when 'eq' then coalesce(had = wanted, false)
        when 'ne' then not coalesce(had = wanted, false)
        when 'in' then coalesce(exists (select from jsonb_array_elements(wanted) as w where w = had), false)
        when 'nin' then not coalesce(exists (select from jsonb_array_elements(wanted) as w where w = had), false)
        when 'contains' then lexichord.filter_contains(had, wanted #>> '{}')
        when 'not contains' then not lexichord.filter_contains(had, wanted #>> '{}')
        when 'start with' then coalesce(jsonb_typeof(had) = 'string' and starts_with(had #>> '{}', wanted #>> '{}'), false)
        when 'end with' then coalesce(jsonb_typeof(had) = 'string' and right(had #>> '{}', length(wanted #>> '{}')) = wanted #>> '{}', false)
        when 'empty' then coalesce(had in ('null', '""', '[]', '{}'), true)
        when 'not empty' then not coalesce(had in ('null', '""', '[]', '{}'), true)
        else lexichord.filter_compares(had, operator, wanted)
    end;
end $$;
comment on function lexichord.filter_matches(jsonb, jsonb) is
'Whether a document''s metadata, or what document_facts returns of it, fulfils a filter; null where it is none. Internal. Readers may call it.';
