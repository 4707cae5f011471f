-- Values of different kinds do not compare: a text is never greater than a number.
create or replace function lexichord.filter_compares(had jsonb, operator text, wanted jsonb) returns boolean
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
    difference integer;
begin
    if had is null or jsonb_typeof(had) <> jsonb_typeof(wanted) then
        return false;
    end if;
    if operator in ('before', 'after') then
        if not lexichord.is_date(had #>> '{}') then
            return false;
        end if;
        return case operator when 'before' then (had #>> '{}')::timestamptz < (wanted #>> '{}')::timestamptz
                             else (had #>> '{}')::timestamptz > (wanted #>> '{}')::timestamptz end;
    elsif jsonb_typeof(had) = 'number' then
        difference := sign(had::numeric - wanted::numeric);
    else
        difference := case when had #>> '{}' = wanted #>> '{}' then 0
                           when (had #>> '{}') collate "C" < (wanted #>> '{}') collate "C" then -1 else 1 end;
    end if;
    return case operator
        when 'gt' then difference > 0 when 'gte' then difference >= 0
        when 'lt' then difference < 0 when 'lte' then difference <= 0
    end;
end $$;
comment on function lexichord.filter_compares(jsonb, text, jsonb) is
'Compares two numbers, two texts (by code point) or two dates. Internal. Readers may call it.';
