create or replace function lexichord.list_table_failures(source regclass default null) returns table (
    source_table text, key text, reason text, attempts integer, failed_at timestamptz)
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select t.name, f.key, f.reason, f.attempts, f.failed_at from table_failure f join indexed_table t on t.id = f.table_id
    where list_table_failures.source is null or t.relation = list_table_failures.source
    order by t.name, f.failed_at desc, f.key
$$;
comment on function lexichord.list_table_failures(regclass) is
'Rows that could not be stored, of one table or of all, with the reason; the next change of a row tries it again, retry_table_failures() all.';
