create or replace function lexichord.queue_gone(table_id integer, most integer) returns void
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    made lexichord_data.indexed_table;
begin
    select * into strict made from indexed_table t where t.id = queue_gone.table_id;
    execute format(
        'insert into lexichord_data.table_change (table_id, priority, keys) select $1, 1, array_agg(g.key) from ('
        'select r.key, row_number() over () as place from ('
        'select s.key from lexichord_data.table_row s where s.table_id = $1 '
        'union select f.key from lexichord_data.table_failure f where f.table_id = $1) as r where not exists '
        '(select from %s as a where %s = r.key)) as g group by g.place / $2',
        made.relation, lexichord_data.key_expression(made.relation, lexichord_data.current_columns(made, made.key), 'a')) using table_id, most;
end $$;
comment on function lexichord.queue_gone(integer, integer) is 'Queues the keys of rows, stored or listed as failures, that their table no longer has. Internal.';
