create or replace function lexichord.list_indexed_tables() returns table (
    source text, dataset text, rows_stored bigint, rows_waiting bigint, is_filling boolean, waiting_since timestamptz,
    rows_failed bigint, fault text)
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select t.name, t.dataset, (select count(*) from table_row r where r.table_id = t.id),
           coalesce(c.waiting, 0), coalesce(c.filling, false), c.since,
           (select count(*) from table_failure f where f.table_id = t.id),
           case when not exists (select from pg_class p where p.oid = t.relation) then 'the table is gone' else t.fault end
    from indexed_table t left join lateral (
        select sum(cardinality(c.keys))::bigint as waiting, bool_or(c.keys is null) as filling, min(c.changed_at) as since
        from table_change c where c.table_id = t.id) as c on true
    order by t.name
$$;
comment on function lexichord.list_indexed_tables() is
'The indexed tables: rows stored, keys that wait for a worker and since when, whether rows of before are still being added, rows that could not be stored, and why a table''s changes wait. Readers may call it.';
