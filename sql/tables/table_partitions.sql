create or replace function lexichord.table_partitions(source regclass) returns oid[]
language sql stable set search_path = pg_catalog, pg_temp as $$
    select coalesce(array_agg(p.relid::oid order by p.relid::oid), '{}') from pg_partition_tree(source) as p where p.isleaf and p.relid <> source
$$;
comment on function lexichord.table_partitions(regclass) is 'The partitions of a table that hold rows; none of an ordinary one. Internal.';
