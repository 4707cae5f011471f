create or replace function lexichord.finish_changes(changes bigint[]) returns void
language sql set search_path = pg_catalog, lexichord_data, pg_temp as $$
    delete from table_change c where c.id = any(changes)
$$;
comment on function lexichord.finish_changes(bigint[]) is 'Deletes changes that are done, in the transaction that locked them.';
