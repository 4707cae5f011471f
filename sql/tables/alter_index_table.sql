-- Who waits for the table holds up all who come after: it gives up soon.
create or replace function lexichord.alter_index_table(
    source regclass, text text[] default null, title text default null, key text[] default null, metadata text[] default null,
    context text[] default null, filter text default null, uri text default null
) returns void
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp set lock_timeout = '5s' as $$
declare
    known integer := lexichord.find_indexed_table(source);
    made lexichord_data.indexed_table;
    was text[];
begin
    select * into strict made from indexed_table t where t.id = known for update;
    was := made.key;
    made.content := coalesce(text, lexichord_data.current_columns(made, made.content));
    made.title := coalesce(title, (lexichord_data.current_columns(made, array[made.title]))[1]);
    made.key := coalesce(key, lexichord_data.current_columns(made, made.key));
    made.metadata := coalesce(metadata, lexichord_data.current_columns(made, made.metadata));
    made.context := coalesce(context, lexichord_data.current_columns(made, made.context));
    made.filter := coalesce(filter, made.filter);
    made.uri := coalesce(uri, lexichord.renamed_uri(made));
    made.relation_oid := source;
    made := lexichord.define_table(made);
    update indexed_table t
    set (relation_oid, name, key, content, title, context, metadata, filter, filter_columns, uri, numbers, partitions, is_guarded, fault)
        = (made.relation_oid, made.name, made.key, made.content, made.title, made.context, made.metadata, made.filter,
           made.filter_columns, made.uri, made.numbers, made.partitions, made.is_guarded, null)
    where t.id = known;
    perform lexichord.create_table_triggers(made);
    if made.is_guarded then
        perform lexichord.guard_documents();
    end if;
    if key is not null and key <> was then  -- what is stored has other keys, and nothing says which is which
        perform lexichord.delete_documents(array(select r.document_id from table_row r where r.table_id = known));
        delete from table_change c where c.table_id = known;
        delete from table_failure f where f.table_id = known;
    end if;
    insert into table_change (table_id, priority) values (known, 1);
    notify lexichord;
end $$;
comment on function lexichord.alter_index_table(regclass, text[], text, text[], text[], text[], text, text) is
'Changes how a table is indexed: what is null stays, an empty text or list takes it away. All rows are looked at again in the background, and what their new documents share with the old is not embedded again.';
