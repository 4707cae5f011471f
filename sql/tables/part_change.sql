create or replace function lexichord.part_change(change lexichord_data.table_change, most integer) returns void
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    keys text[] := change.keys;
    after text;
begin
    if keys is null then
        keys := lexichord.next_keys(change.table_id, change.after, 40 * most);
        after := keys[40 * most];
    end if;
    delete from table_change c where c.id = change.id;
    insert into table_change (table_id, priority, keys, changed_at)
    select change.table_id, change.priority, array_agg(k.key), change.changed_at
    from unnest(keys) with ordinality as k (key, place) group by (k.place - 1) / most order by (k.place - 1) / most;
    if after is not null then
        insert into table_change (table_id, priority, after, changed_at) values (change.table_id, change.priority, after, change.changed_at);
    elsif change.keys is null then
        perform lexichord.queue_gone(change.table_id, most);
    end if;
end $$;
comment on function lexichord.part_change(lexichord_data.table_change, integer) is
'Puts changes of at most so many keys in the place of one that stands for more, or for a whole table. Internal.';
