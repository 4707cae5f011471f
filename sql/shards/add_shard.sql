create or replace function lexichord.add_shard(number integer, dsn text) returns void
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
begin
    insert into shard (number, dsn) values (add_shard.number, add_shard.dsn);
    update shard_move m set last_number = greatest(m.last_number, add_shard.number);
    if to_regclass('lexichord_data.shard_node') is not null then
        perform lexichord.fan_out();
    end if;
end $$;
comment on function lexichord.add_shard(integer, text) is 'Lists a database that has joined as a shard.';
