create or replace function lexichord.drop_table_triggers(source regclass) returns void
language plpgsql set search_path = pg_catalog, pg_temp set standard_conforming_strings = on as $$
declare
    name text;
begin
    for name in select t.tgname from pg_trigger t
                where t.tgrelid = source and not t.tgisinternal and t.tgname like 'zz\_lexichord\_%' and t.tgparentid = 0 loop
        execute format('drop trigger %I on %s', name, source);
    end loop;
end $$;
comment on function lexichord.drop_table_triggers(regclass) is 'Drops the triggers that queue what changes in a table. Internal.';
