-- Ids of a shard begin where no other shard's end, and are written by the home's key: so an id says where it is.
create or replace function lexichord.join_shards(first_id bigint, secret uuid) returns void
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
begin
    if exists (select from document) or exists (select from shard) then
        raise exception 'the database is not empty: a shard begins with none of its own'
            using errcode = 'invalid_parameter_value';
    end if;
    execute format('alter table document alter column id set start with %1$s restart with %1$s', first_id);
    execute format('alter table chunk alter column id set start with %1$s restart with %1$s', first_id);
    update configuration set id_secret = secret;
end $$;
comment on function lexichord.join_shards(bigint, uuid) is
'Makes an empty database a shard: its ids begin at first_id and are written by the secret of the home.';
