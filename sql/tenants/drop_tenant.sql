create or replace function lexichord.drop_tenant(name text) returns boolean
language sql set search_path = pg_catalog, lexichord_data, pg_temp as $$
    update api_key k set revoked_at = now()
    from tenant t where t.name = drop_tenant.name and t.id = k.tenant_id and k.revoked_at is null;
    with gone as (delete from tenant t where t.name = drop_tenant.name returning t.id)
    select exists (select from gone);
$$;
comment on function lexichord.drop_tenant(text) is
'Forgets a tenant and revokes its keys; its datasets stay, and only the owner sees them. False = there is none of that name.';
