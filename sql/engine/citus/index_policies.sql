create or replace function lexichord.index_policies() returns table (table_name name, condition text)
language sql immutable parallel safe rows 1 set search_path = pg_catalog, pg_temp as $$
    select null::name, null::text where false
$$;
comment on function lexichord.index_policies() is
'No row: nobody but the owner reads what is on the workers. Internal.';
