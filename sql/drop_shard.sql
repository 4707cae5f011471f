create or replace function lexichord.drop_shard(number integer) returns void
language sql set search_path = pg_catalog, lexichord_data, pg_temp as $$
    delete from shard s where s.number = drop_shard.number
$$;
comment on function lexichord.drop_shard(integer) is 'Takes a shard from the list; its database is left as it is.';
