-- Named so that they fire last: what others change of a row is seen.
create or replace function lexichord.create_table_triggers(made lexichord_data.indexed_table) returns void
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp set client_min_messages = warning as $$
declare
    source regclass := made.relation;
begin
    perform lexichord.drop_table_triggers(source);
    perform lexichord_data.make_queue_function(made);
    if (select c.relkind from pg_class c where c.oid = source) = 'p' then
        execute format('create trigger zz_lexichord_row after insert or update or delete on %s for each row '
                       'execute function lexichord_data.queue_row(%s)', source, made.id);
    else
        execute format('create trigger zz_lexichord_insert after insert on %s referencing new table as new_rows '
                       'for each statement execute function lexichord_data.queue_changes_%s()', source, made.id);
        execute format('create trigger zz_lexichord_update after update on %s referencing old table as old_rows new table as new_rows '
                       'for each statement execute function lexichord_data.queue_changes_%s()', source, made.id);
        execute format('create trigger zz_lexichord_delete after delete on %s referencing old table as old_rows '
                       'for each statement execute function lexichord_data.queue_changes_%s()', source, made.id);
    end if;
    execute format('create trigger zz_lexichord_truncate after truncate on %s '
                   'for each statement execute function lexichord_data.queue_changes_%s()', source, made.id);
end $$;
comment on function lexichord.create_table_triggers(lexichord_data.indexed_table) is
'Makes the triggers that queue what changes in an indexed table, in place of those that are there. Internal.';
