-- A uri passes from row to row: documents are deleted or renamed in the order of their rows' changes, and one change
-- swaps two. What another row has by now stays with it, and is refused.
create or replace function lexichord.free_uris(table_id integer, owner bigint) returns void
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    holders text[] := array(
        select r.key from fresh_row f join document d on d.dataset_id = free_uris.owner and d.uri = f.uri
        join table_row r on r.document_id = d.id where r.table_id = free_uris.table_id and r.key <> f.key);
    by_now jsonb;
begin
    if holders = '{}' then
        return;
    end if;
    by_now := (select coalesce(jsonb_object_agg(w.key, w.uri), '{}') from lexichord.read_rows(free_uris.table_id, holders) as w);
    perform lexichord.delete_documents(array(
        select r.document_id from table_row r
        where r.table_id = free_uris.table_id and r.key = any(holders) and not by_now ? r.key));
    with renamed as (
        update document d set uri = format('%s#%s', d.uri, r.key) from table_row r
        where r.table_id = free_uris.table_id and r.key = any(holders) and d.id = r.document_id and by_now ->> r.key <> d.uri
        returning r.key
    )
    insert into table_change (table_id, keys) select free_uris.table_id, array_agg(n.key) from renamed n
    where not exists (select from fresh_row f where f.key = n.key) having count(*) > 0;
end $$;
comment on function lexichord.free_uris(integer, bigint) is
'Takes the uris of the rows in fresh_row from rows of the same table that no longer have them; a part of store_rows. Internal.';
