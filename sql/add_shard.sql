create or replace function lexichord.add_shard(number integer, dsn text) returns void
language sql set search_path = pg_catalog, lexichord_data, pg_temp as $$
    insert into shard (number, dsn) values (add_shard.number, add_shard.dsn)
$$;
comment on function lexichord.add_shard(integer, text) is 'Lists a database that has joined as a shard.';
