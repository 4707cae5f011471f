create or replace function lexichord.check_boost(boost jsonb) returns void
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp set standard_conforming_strings = on as $$
declare
    wrong text;
begin
    if jsonb_typeof(boost) <> 'object' then
        wrong := jsonb_typeof(boost);
    else
        select format('%s: %s', to_jsonb(e.key), e.value) into wrong
        from jsonb_each(boost) as e where e.key !~ '^\d{1,18}$' or jsonb_typeof(e.value) <> 'number' limit 1;
    end if;
    if wrong is not null then
        raise exception 'boost must be an object, document id to points, such as {"12": 0.5}, not %', wrong
            using errcode = 'invalid_parameter_value';
    end if;
end $$;
comment on function lexichord.check_boost(jsonb) is
'Raises an error if a boost is not points by document id; null is none. Internal. Readers may call it.';
