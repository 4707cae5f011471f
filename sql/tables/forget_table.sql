create or replace function lexichord.forget_table(table_id integer) returns bigint
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    own text;
    gone bigint;
    still_there regclass := (select t.tgrelid from pg_trigger t where t.tgfoid = to_regprocedure(format('lexichord_data.queue_changes_%s()', table_id)) limit 1);
begin
    if still_there is not null then
        raise exception 'table % still queues its changes: end that by drop_index_table', still_there using errcode = 'object_in_use';
    end if;
    delete from indexed_table t where t.id = forget_table.table_id returning t.dataset into own;
    delete from table_change c where c.table_id = forget_table.table_id;
    gone := lexichord.delete_documents(array(
        select d.id from document d join dataset s on s.id = d.dataset_id where s.name = own));
    delete from dataset s where s.name = own;
    if lexichord_data.owns_queue_function(table_id) then
        execute format('drop function lexichord_data.queue_changes_%s()', table_id);
    end if;
    return gone;
end $$;
comment on function lexichord.forget_table(integer) is 'Deletes the documents of an indexed table and all that is known of it; returns how many there were. Internal.';
