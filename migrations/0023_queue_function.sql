-- What changed in an indexed table is asked by a function of the table's own, whose statements are planned once a
-- session: making and planning them anew took three quarters of what a small update's trigger cost.

-- Of an update's rows as many are compared by its trigger; comparing more would take its writer too long. Changes of more
-- rows wait for what somebody just wrote.
create or replace function lexichord_data.most_compared_rows() returns integer
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$ select 100 $$;

-- The keys of inserted, of deleted and of updated rows: of these the keys where values differ, and whether there are too
-- many to compare them all. null = the key is gone.
create or replace function lexichord_data.table_statements(source lexichord_data.indexed_table) returns text[]
language plpgsql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    key text[] := lexichord_data.current_columns(source, source.key);
    compared text[] := lexichord_data.compared_columns(source);
    old_key text := lexichord_data.key_expression(source.relation, key, 'o');
    new_key text := lexichord_data.key_expression(source.relation, key, 'n');
    few integer := lexichord_data.most_compared_rows();
begin
    if array_position(key, null) is not null then
        return null;
    end if;
    return array[
        format('select array_agg(%s) from new_rows as n', new_key),
        format('select array_agg(%s) from old_rows as o', old_key),
        format('select array_agg(coalesce(%1$s, %2$s)) filter (where o.%3$I is null or n.%3$I is null or record_image_ne(row(%4$s), row(%5$s))), count(*) > %8$s '
               'from (select * from old_rows limit %8$s + 1) as o full join (select * from new_rows limit %8$s + 1) as n on (%6$s) = (%7$s)',
               new_key, old_key, key[1], lexichord_data.row_columns(compared, 'o'), lexichord_data.row_columns(compared, 'n'),
               lexichord_data.row_columns(key, 'o'), lexichord_data.row_columns(key, 'n'), few)];
end $$;

-- The function that a table's triggers call, by the names that its columns have by now. It depends on none of them, which
-- would keep them from being dropped or changed; where they no longer are what they were, it asks by what they are.
create or replace function lexichord_data.make_queue_function(source lexichord_data.indexed_table) returns void
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp set standard_conforming_strings = on as $make$
declare
    statements text[] := lexichord_data.table_statements(source);
    numbers text := (select string_agg(format('(%s, %L)', n.number, n.name), ', ') from jsonb_each_text(source.numbers) as n (name, number));
begin
    execute format($function$
        create or replace function lexichord_data.queue_changes_%1$s() returns trigger
        language plpgsql security definer set search_path = pg_catalog, lexichord_data, pg_temp as $queue$
        declare
            statements text[];
            changed text[];
            before text[];
            is_large boolean := false;
            wakes boolean;
        begin
            if tg_op <> 'TRUNCATE' and (select count(*) from pg_attribute a
                                        where a.attrelid = tg_relid and (a.attnum, a.attname) in (%2$s)) <> %3$s then
                statements := (select lexichord_data.table_statements(t) from indexed_table t where t.id = %1$s);
                if statements is null then
                    return null;  -- the worker says so: nobody's write fails for it
                end if;
                if tg_op = 'UPDATE' then
                    execute statements[3] into changed, is_large;
                end if;
                if tg_op = 'INSERT' or is_large then
                    execute statements[1] into changed;
                end if;
                if tg_op = 'DELETE' or is_large then
                    execute statements[2] into before;
                end if;
            else
                if tg_op = 'UPDATE' then
                    %6$s into changed, is_large;
                end if;
                if tg_op = 'INSERT' or is_large then
                    changed := (%4$s);
                end if;
                if tg_op = 'DELETE' or is_large then
                    before := (%5$s);
                end if;
            end if;
            if before <> changed or changed is null then  -- the same rows in the same order, unless keys were changed
                changed := before || changed;
            end if;
            if changed is not null or tg_op = 'TRUNCATE' then
                insert into table_change (table_id, keys, priority)
                values (%1$s, changed, case when cardinality(changed) > %7$s then 1 else 0 end)
                returning exists (select from worker w where w.resting_until > clock_timestamp()) into wakes;
                if wakes then
                    notify lexichord;
                end if;
            end if;
            return null;
        end $queue$
        $function$, source.id, numbers, (select count(*) from jsonb_object_keys(source.numbers)), statements[1], statements[2], statements[3],
        lexichord_data.most_compared_rows());
    execute format('revoke execute on function lexichord_data.queue_changes_%s() from public', source.id);
end $make$;

create or replace function lexichord_data.owns_queue_function(table_id integer) returns boolean
language sql stable set search_path = pg_catalog, pg_temp as $$
    select coalesce((select pg_has_role(p.proowner, 'usage') from pg_proc p
                     where p.oid = to_regprocedure(format('lexichord_data.queue_changes_%s()', table_id))), false)
$$;

alter table lexichord_data.indexed_table drop column statements;

-- Triggers of before call the table's own function from now on. Those of a table whose key is gone are dropped, which its
-- fault says once it is mended: lexichord.alter_index_table() makes them again.
do $$
declare
    source lexichord_data.indexed_table;
    made record;
    called text;
begin
    for source in select t.* from lexichord_data.indexed_table t join pg_class c on c.oid = t.relation loop
        called := format('lexichord_data.queue_changes_%s()', source.id);
        if lexichord_data.table_statements(source) is not null then
            perform lexichord_data.make_queue_function(source);
        end if;
        for made in select t.oid, t.tgname, t.tgenabled from pg_trigger t
                    where t.tgrelid = source.relation and t.tgfoid = 'lexichord_data.queue_statement'::regproc loop
            if to_regprocedure(called) is null then
                execute format('drop trigger %I on %s', made.tgname, source.relation);
                continue;
            end if;
            execute replace(replace(pg_get_triggerdef(made.oid), 'CREATE TRIGGER', 'CREATE OR REPLACE TRIGGER'),
                            format('lexichord_data.queue_statement(''%s'')', source.id), called);
            if made.tgenabled = 'D' then
                execute format('alter table %s disable trigger %I', source.relation, made.tgname);
            end if;
        end loop;
    end loop;
end $$;

drop function lexichord_data.queue_statement();
