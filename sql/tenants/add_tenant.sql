-- A dataset that is not there yet is made: no moment passes in which what is stored in it is nobody's.
create or replace function lexichord.add_tenant(
    name text, datasets text[] default '{}', roles text[] default '{}', principals text[] default '{}'
) returns table (tenant text, created boolean)
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    known bigint;
    taken text;
begin
    if not (select c.has_tenants from configuration c) then
        raise exception 'tenants are off' using errcode = 'invalid_parameter_value', hint = 'Turn them on by lexichord tenants on.';
    end if;
    lock table lexichord_data.tenant in share row exclusive mode;  -- two at once would both find a dataset free
    insert into lexichord_data.tenant as t (name) values (add_tenant.name) on conflict on constraint tenant_name_key do nothing returning t.id into known;
    created := known is not null;
    tenant := add_tenant.name;
    known := coalesce(known, (select t.id from lexichord_data.tenant t where t.name = add_tenant.name));
    insert into dataset (name) select d.name from unnest(datasets) as d (name) on conflict on constraint dataset_name_key do nothing;
    select format('dataset %s is of tenant %s', s.name, t.name) into taken
    from dataset s join lexichord_data.tenant t on t.id = s.tenant_id where s.name = any(datasets) and t.id <> known limit 1;
    taken := coalesce(taken, (
        select format('role %s is of tenant %s', r.role_name, t.name)
        from tenant_role r join lexichord_data.tenant t on t.id = r.tenant_id where r.role_name = any(roles) and t.id <> known limit 1));
    taken := coalesce(taken, (select format('there is no role %s', r.name) from unnest(roles) as r (name)
                              where not exists (select from pg_roles p where p.rolname = r.name) limit 1));
    if taken is not null then
        raise exception '%', taken using errcode = 'invalid_parameter_value';
    end if;
    update dataset s set tenant_id = known where s.name = any(datasets);
    insert into tenant_role (role_name, tenant_id, principals) select r.name, known, add_tenant.principals from unnest(roles) as r (name)
    on conflict (role_name) do update set principals = excluded.principals;
    return next;
end $$;
comment on function lexichord.add_tenant(text, text[], text[], text[]) is
'Adds a tenant, or datasets and SQL roles to one that is there; principals = whose documents, of those that name principals, the roles may see. created = it is a new one.';
