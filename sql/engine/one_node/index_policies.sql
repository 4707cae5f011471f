create or replace function lexichord.index_policies() returns table (table_name name, condition text)
language sql immutable parallel safe rows 1 set search_path = pg_catalog, pg_temp as $$
    values ('keyword'::name, 'exists (select from lexichord_data.document d where d.id = document_id)')
$$;
comment on function lexichord.index_policies() is
'The part of tenant_policies that concerns what searches compare. Internal.';
