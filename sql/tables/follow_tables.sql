-- A table changes without a word to us; a worker looks before it reads. Rows that another worker looks at are left to it.
create or replace function lexichord.follow_tables() returns table (source text, remark text)
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    made lexichord_data.indexed_table;
    told text;
    changed boolean;
begin
    for made in select t.* from indexed_table t order by t.id for update skip locked loop
        source := made.name;
        if not exists (select from pg_class c where c.oid = made.relation) then
            remark := format('the table is gone, documents deleted: %s', lexichord.forget_table(made.id));
            return next;
            continue;
        end if;
        told := lexichord.table_fault(made);
        changed := told is null and (made.relation_oid <> made.relation::oid
                   or made.partitions <> lexichord.table_partitions(made.relation)
                   or lexichord_data.current_columns(made, made.metadata) <> made.metadata);
        if told is distinct from made.fault then
            remark := coalesce(told, 'goes on');
            return next;
            update indexed_table t set fault = told where t.id = made.id;
        end if;
        if told is null and lexichord.is_renamed(made) then
            perform lexichord.rename_table(made);
        end if;
        if told is null and not made.is_guarded and (select c.relrowsecurity from pg_class c where c.oid = made.relation) then
            perform lexichord.guard_documents();
            update indexed_table t set is_guarded = true where t.id = made.id;
        end if;
        if changed then
            update indexed_table t set partitions = lexichord.table_partitions(made.relation) where t.id = made.id;
            insert into table_change (table_id, priority) values (made.id, 1);
        end if;
    end loop;
end $$;
comment on function lexichord.follow_tables() is
'Compares the indexed tables with what was indexed: columns that were renamed are taken over, documents of a dropped table deleted, and a table that no longer fits waits with its reason. Returns what is new.';
