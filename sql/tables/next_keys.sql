create or replace function lexichord.next_keys(table_id integer, after text, batch integer) returns text[]
language plpgsql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    made lexichord_data.indexed_table;
    key text[];
    found_keys text[];
begin
    select * into strict made from indexed_table t where t.id = next_keys.table_id;
    key := lexichord_data.current_columns(made, made.key);
    execute format(
        'select array_agg(k.key order by k.place) from (select %s as key, row_number() over (order by %s) as place from %s as a where %s order by %2$s limit $2) as k',
        lexichord_data.key_expression(made.relation, key, 'a'), lexichord_data.row_columns(key, 'a'), made.relation,
        case when after is null then 'true' else format('(%s) > (%s)', lexichord_data.row_columns(key, 'a'), lexichord_data.key_values(made.relation, key, '$1')) end)
        into found_keys using after, batch;
    return coalesce(found_keys, '{}');
end $$;
comment on function lexichord.next_keys(integer, text, integer) is 'The next keys of an indexed table, in their order. Internal.';
