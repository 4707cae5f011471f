-- A distributed table with one row on each node: what is joined with it laterally runs on all nodes at once. Which rows
-- go to which node, Citus alone says.
create or replace function lexichord.fan_out() returns void
language plpgsql set search_path = pg_catalog, pg_temp set client_min_messages = warning as $$
declare
    missing text;
begin
    if not exists (select from pg_extension e where e.extname = 'citus') then
        raise exception 'this is no coordinator of a Citus cluster' using errcode = 'feature_not_supported', hint = 'create extension citus;';
    end if;
    if (select c.has_tenants from lexichord_data.configuration c) then
        raise exception 'tenants are on, and in SQL they are not there over shards' using errcode = 'invalid_parameter_value',
            hint = 'Programs search all shards without fan_out().';
    end if;
    perform set_config('citus.enable_ddl_propagation', 'on', true);
    drop table if exists lexichord_data.shard_node;
    if not exists (select from lexichord_data.shard) then
        return;
    end if;
    create table lexichord_data.shard_node (place integer primary key, number integer);
    execute $distribute$
        select create_distributed_table('lexichord_data.shard_node', 'place', colocate_with => 'none', shard_count => (
            select count(*)::integer from pg_dist_node where noderole = 'primary' and isactive and shouldhaveshards)) $distribute$;
    execute $places$
        insert into lexichord_data.shard_node (place)
        select min(p) from generate_series(1, 100000) as p group by get_shard_id_for_distribution_column('lexichord_data.shard_node', p) $places$;
    create temp table numbers on commit drop as
        select n.place, s.number from lexichord_data.shard_node n, lateral lexichord.shard_number() as s (number);
    select string_agg(coalesce(s.number, 0)::text, ', ' order by s.number) into missing
    from (select 0 as number union all select s.number from lexichord_data.shard s) as s
    where (select count(*) from pg_temp.numbers n where n.number = s.number) <> 1;
    if missing is not null then
        raise exception 'of the nodes of this Citus cluster not just one is shard %', missing
            using errcode = 'object_not_in_prerequisite_state',
                  hint = 'select citus_add_node(host, port) for each shard, and citus_set_node_property(host, port, ''shouldhaveshards'', true) for this one.';
    end if;
    update lexichord_data.shard_node n set number = s.number from pg_temp.numbers s where s.place = n.place;
    delete from lexichord_data.shard_node n
    where n.place in (select o.place from pg_temp.numbers o where o.number not in (select 0 union all select s.number from lexichord_data.shard s));
    execute 'grant select on lexichord_data.shard_node to lexichord_reader';
end $$;
comment on function lexichord.fan_out() is
'On the coordinator of a Citus cluster whose nodes are the shards of this database: has searches go to all of them. Again after a shard was added or removed.';
