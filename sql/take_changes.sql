-- Locked until the caller's transaction ends: who is killed leaves them to the next. Changes of one table only, the
-- oldest first; one that stands for more rows is parted first, and then nothing is taken.
create or replace function lexichord.take_changes(most integer)
returns table (table_id integer, changes bigint[], keys text[], waiting_since timestamptz)
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    one table_change;
    last table_change;
begin
    changes := '{}';
    keys := '{}';
    loop
        select c.* into one from table_change c join indexed_table t on t.id = c.table_id
        where t.fault is null and (take_changes.table_id is null or c.table_id = take_changes.table_id)
            and (last.id is null or (c.priority, c.id) > (last.priority, last.id))
        order by c.priority, c.id limit 1 for update of c skip locked;
        exit when not found or (changes <> '{}' and (one.keys is null or cardinality(keys) + cardinality(one.keys) > most));
        table_id := one.table_id;
        if one.keys is null or cardinality(one.keys) > most then
            perform lexichord.part_change(one, most);
            exit;
        end if;
        last := one;
        changes := changes || one.id;
        keys := keys || one.keys;
        waiting_since := least(waiting_since, one.changed_at);
        exit when cardinality(keys) >= most;
    end loop;
    keys := array(select distinct k from unnest(keys) as k);
    if table_id is not null then
        return next;
    end if;
end $$;
comment on function lexichord.take_changes(integer) is
'Locks the oldest changes of an indexed table that nobody else has, of at most so many keys; no row = there is nothing to do, a row without keys = ask again after a commit.';
