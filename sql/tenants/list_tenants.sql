create or replace function lexichord.list_tenants() returns table (tenant text, datasets text[], roles text[], keys bigint, created_at timestamptz)
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select t.name, array(select s.name from dataset s where s.tenant_id = t.id order by s.name),
           array(select r.role_name::text from tenant_role r where r.tenant_id = t.id order by r.role_name),
           (select count(*) from api_key k where k.tenant_id = t.id and k.revoked_at is null and (k.expires_at > now()) is not false), t.created_at
    from tenant t order by t.name
$$;
comment on function lexichord.list_tenants() is
'The tenants, with their datasets, SQL roles and the number of their valid API keys.';
