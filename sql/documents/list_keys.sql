create or replace function lexichord.list_keys() returns table (key text, documents bigint)
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select k, count(*) from document d, jsonb_object_keys(d.metadata) as k group by k order by k
$$;
comment on function lexichord.list_keys() is 'The metadata keys that a filter can name, with how many documents have each. Readers may call it.';
