-- Who waits for the table holds up all who come after: it gives up soon.
create or replace function lexichord.drop_index_table(source regclass) returns bigint
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp set lock_timeout = '5s' as $$
declare
    known integer := lexichord.find_indexed_table(source);
begin
    perform lexichord.drop_table_triggers(source);
    return lexichord.forget_table(known);
end $$;
comment on function lexichord.drop_index_table(regclass) is
'Ends the indexing of a table and deletes its documents; returns how many. The table itself stays as it is.';
