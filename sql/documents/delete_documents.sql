create or replace function lexichord.delete_documents(documents bigint[]) returns bigint
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp set lock_timeout = '30s' as $$
declare
    gone bigint;
begin
    perform lexichord_data.join_writers();
    perform from document d where d.id = any(documents) order by d.id for update;  -- two who delete wait in one order
    delete from document d where d.id = any(documents);
    get diagnostics gone = row_count;
    perform lexichord.fold_statistics(from_changes => 32);
    return gone;
end $$;
comment on function lexichord.delete_documents(bigint[]) is
'Deletes documents with all that hangs on them, in one transaction; returns how many there were.';
