create or replace function lexichord.check_variants(variants jsonb, k integer, depth integer) returns void
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
declare
    problem text := case
        when jsonb_typeof(variants) is distinct from 'array' or jsonb_array_length(variants) not between 1 and 100
            then 'variants must be an array of 1 to 100 objects'
        when k is null or k < 1 then 'k must be at least 1'
        when k > depth then format('k (%s) is more than the %s candidates of a channel: raise depth as well', k, depth)
    end;
begin
    if problem is null then
        select min(case
            when jsonb_typeof(v) <> 'object' then 'a variant must be an object'
            when coalesce(v ->> 'name', '') = '' then 'a variant has no name'
            when (select count(*) from jsonb_array_elements(variants) as o where o ->> 'name' = v ->> 'name') > 1
                then format('two variants have the name %L', v ->> 'name')
            when jsonb_typeof(v -> 'weight') <> 'number' or (v -> 'weight')::numeric not between 1e-6 and 1e6
                then format('the weight of variant %L must be a number above 0', v ->> 'name')
            when jsonb_typeof(v -> 'documents') not in ('array', 'null')
                then format('the documents of variant %L must be an array of ids', v ->> 'name')
        end) into problem
        from jsonb_array_elements(variants) as v;
    end if;
    if problem is not null then
        raise exception '%', problem using errcode = 'invalid_parameter_value';
    end if;
end $$;
comment on function lexichord.check_variants(jsonb, integer, integer) is
'Raises an error if the variants of a search do not make sense. Internal. Readers may call it.';
