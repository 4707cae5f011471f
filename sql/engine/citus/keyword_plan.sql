create or replace function lexichord.keyword_plan() returns table (index_name text, statement text, settings jsonb)
language sql immutable parallel safe rows 1 set search_path = pg_catalog, pg_temp as $$
    select null::text, null::text, null::jsonb where false
$$;
comment on function lexichord.keyword_plan() is
'No row: this engine has no keyword index. Internal. Readers may call it.';
