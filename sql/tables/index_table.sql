-- Who waits for the table holds up all who come after: it gives up soon.
-- One transaction: the table is indexed from here on, or nothing has changed.
create or replace function lexichord.index_table(
    source regclass, text text[], title text default null, key text[] default null, metadata text[] default '{}',
    dataset text default null, context text[] default '{}', filter text default null, uri text default null
) returns integer
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp set lock_timeout = '5s' as $$
declare
    made lexichord_data.indexed_table;
begin
    if exists (select from indexed_table t where t.relation = source) then
        raise exception 'table % is indexed already', source using errcode = 'duplicate_object',
            hint = 'Change it by lexichord.alter_index_table(), or drop it by lexichord.drop_index_table().';
    end if;
    made.id := nextval(pg_get_serial_sequence('lexichord_data.indexed_table', 'id'));
    made.relation := source;
    made.relation_oid := source;
    made.dataset := coalesce(dataset, (select c.relname from pg_class c where c.oid = source));
    made.key := key;
    made.content := text;
    made.title := title;
    made.metadata := metadata;
    made.context := context;
    made.filter := filter;
    made.uri := uri;
    if exists (select from dataset d where d.name = made.dataset) then
        raise exception 'there is a dataset "%" already', made.dataset using errcode = 'duplicate_object',
            hint = 'Give the rows another by dataset => ''name''.';
    end if;
    made := lexichord.define_table(made);
    insert into indexed_table overriding system value select made.*;
    insert into dataset (name) values (made.dataset);
    perform lexichord.create_table_triggers(made);
    if made.is_guarded then
        perform lexichord.guard_documents();
    end if;
    insert into table_change (table_id, priority) values (made.id, 1);
    notify lexichord;
    return made.id;
end $$;
comment on function lexichord.index_table(regclass, text[], text, text[], text[], text, text[], text, text) is
'Indexes the rows of a table, those that are there and those to come, each as a document of `dataset` (by default the table''s name): `text` columns, a blank line between them; `title`; `context` columns, which are embedded and indexed with each chunk; `metadata` columns, for filters; rows for which the SQL condition `filter` holds. `key` = the primary key, or another unique one; `uri` = a template such as https://example.com/{id}. `lexichord worker` does the work.';
