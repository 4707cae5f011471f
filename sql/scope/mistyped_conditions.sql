-- Values of different kinds are never equal and do not compare: such a filter finds nothing, and is no error, for documents
-- that are to come may have what it wants. Asked only where nothing was found.
create or replace function lexichord.mistyped_conditions(
    datasets text[] default null, documents bigint[] default null, uri_prefix text default null, filter jsonb default null
) returns table (key text, wanted text[], stored jsonb)
language plpgsql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    built_in constant text[] := '{dataset,uri,title,media_type,folder}';  -- document_facts
    scope constant bigint[] := lexichord.scope_documents(datasets, documents, uri_prefix);
begin
    return query
    with recursive part (f) as (
        select mistyped_conditions.filter
        union all
        select e.value from part p, lexichord.filter_form(p.f) as form,
               jsonb_array_elements(case when form in ('and', 'or') then p.f -> form else '[]' end) as e
    ), condition (name, types) as (
        select e.key, array[jsonb_typeof(e.value)]
        from part p, jsonb_each(case when lexichord.filter_form(p.f) = 'containment' then p.f else '{}' end) as e
        union
        select p.f ->> 'key', case
            when operator in ('eq', 'gt', 'gte', 'lt', 'lte') then array[jsonb_typeof(p.f -> 'value')]
            when operator = 'in' then array(select distinct jsonb_typeof(e) from jsonb_array_elements(p.f -> 'value') as e order by 1)
            when operator = 'contains' then '{array,string}'
            when operator in ('start with', 'end with', 'before', 'after') then '{string}'
        end
        from part p, lexichord.filter_operator(p.f ->> 'op') as operator where lexichord.filter_form(p.f) = 'condition'
    )
    select c.name, c.types, (select d.metadata -> c.name from document d where d.metadata ? c.name and (scope is null or d.id = any(scope)) limit 1)
    from condition c
    where c.types <> '{}' and c.name <> all(built_in) and not exists (
        select from document d
        where d.metadata ? c.name and jsonb_typeof(d.metadata -> c.name) = any(c.types) and (scope is null or d.id = any(scope)));
end $$;
comment on function lexichord.mistyped_conditions(text[], bigint[], text, jsonb) is
'Which conditions of a filter no document in scope can fulfil, as it has no value of the types that are wanted under that key; stored = a value that one has there. Readers may call it.';
