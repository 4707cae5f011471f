create or replace function lexichord.drop_shard(number integer) returns void
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
begin
    delete from shard s where s.number = drop_shard.number;
    if to_regclass('lexichord_data.shard_node') is not null then
        perform lexichord.fan_out();
    end if;
end $$;
comment on function lexichord.drop_shard(integer) is 'Takes a shard from the list; its database is left as it is.';
