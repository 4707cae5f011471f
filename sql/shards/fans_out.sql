-- Not on the workers, where Citus shows the table as well: a shard answers for itself.
create or replace function lexichord.fans_out() returns boolean
language plpgsql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
begin
    return to_regclass('lexichord_data.shard_node') is not null and exists (select from shard);
end $$;
comment on function lexichord.fans_out() is
'Whether this database is the coordinator of a Citus cluster, and its searches go to all shards: see fan_out. Internal. Readers may call it.';
