-- Of a list each element counts; a document without the key is counted under no value.
create or replace function lexichord.count_by(
    key text, datasets text[] default null, documents bigint[] default null,
    uri_prefix text default null, filter jsonb default null
) returns table (value jsonb, documents_with bigint)
language plpgsql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    scope bigint[] := lexichord.scope_documents(datasets, documents, uri_prefix, filter);
    fault record;
begin
    fault := lexichord.check_filter(jsonb_build_object('key', count_by.key, 'op', 'not empty'),
                                    coalesce(scope, (select array_agg(d.id) from document d)));
    if fault.message is not null then
        raise exception '%', fault.message using errcode = 'invalid_parameter_value', hint = fault.hint;
    end if;
    return query
    select v.one, count(distinct d.id)
    from document d join dataset s on s.id = d.dataset_id,
         lexichord.document_facts(s.name, d.uri, d.title, d.media_type, d.metadata) as f (facts),
         jsonb_array_elements(case jsonb_typeof(f.facts -> count_by.key) when 'array' then f.facts -> count_by.key
                              else jsonb_build_array(f.facts -> count_by.key) end) as v (one)
    where (scope is null or d.id = any(scope)) and f.facts ? count_by.key
    group by v.one order by count(distinct d.id) desc, v.one;
end $$;
comment on function lexichord.count_by(text, text[], bigint[], text, jsonb) is
'How many documents of a scope have each value of a metadata key, or of a built-in one, the commonest first. Readers may call it.';
