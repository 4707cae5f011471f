create or replace function lexichord.keyword_index() returns table (index_name text, definition text)
language sql immutable parallel safe rows 1 set search_path = pg_catalog, pg_temp as $$
    select null::text, null::text where false
$$;
comment on function lexichord.keyword_index() is
'No row: the shards'' impacts are read whole, side by side. Internal. Readers may call it.';
