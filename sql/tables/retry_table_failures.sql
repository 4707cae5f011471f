create or replace function lexichord.retry_table_failures(source regclass) returns bigint
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    known integer := lexichord.find_indexed_table(source);
    keys text[] := array(select f.key from table_failure f where f.table_id = known);
begin
    if keys <> '{}' then
        perform lexichord_data.add_change(known, keys);
    end if;
    return cardinality(keys);
end $$;
comment on function lexichord.retry_table_failures(regclass) is 'Queues the rows of a table again that could not be stored; returns how many.';
