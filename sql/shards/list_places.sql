-- Rows of an indexed table stay with their table.
create or replace function lexichord.list_places(past bigint, batch integer) returns table (number bigint, dataset text, uri text)
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select d.id, s.name, d.uri
    from document d join dataset s on s.id = d.dataset_id
    where d.id > past and not exists (select from table_row r where r.document_id = d.id)
    order by d.id limit batch
$$;
comment on function lexichord.list_places(bigint, integer) is
'The next documents by number, with what says on which shard they belong.';
