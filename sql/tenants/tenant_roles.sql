create or replace function lexichord.tenant_roles() returns table (tenant text, role_name text, principals text[])
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select t.name, r.role_name::text, r.principals from tenant_role r join tenant t on t.id = r.tenant_id order by r.role_name
$$;
comment on function lexichord.tenant_roles() is
'The SQL roles of tenants, and whose documents, of those that name principals, they see: a new shard gets the same.';
