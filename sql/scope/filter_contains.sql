create or replace function lexichord.filter_contains(had jsonb, wanted text) returns boolean
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
    select coalesce(case jsonb_typeof(had)
        when 'string' then strpos(had #>> '{}', wanted) > 0
        when 'array' then had @> jsonb_build_array(wanted)
    end, false)
$$;
comment on function lexichord.filter_contains(jsonb, text) is
'Whether a string holds the text, or an array holds it as an element. Internal. Readers may call it.';
