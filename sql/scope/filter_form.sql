create or replace function lexichord.filter_form(filter jsonb) returns text
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
declare
    keys text[];
begin
    if jsonb_typeof(filter) = 'object' then
        select array_agg(k order by k) into keys from jsonb_object_keys(filter) as k;
        if keys <@ '{key,op,value}' and keys @> '{key,op}' and jsonb_typeof(filter -> 'key') = 'string' then
            return 'condition';
        elsif keys in ('{and}', '{or}') and jsonb_typeof(filter -> keys[1]) = 'array' then
            return keys[1];
        end if;
        return 'containment';
    end if;
    return null;
end $$;
comment on function lexichord.filter_form(jsonb) is
'Which kind a filter is: containment, condition, and, or; null where it is none. Internal. Readers may call it.';
