create or replace function lexichord.tenancy() returns table (has_tenants boolean, is_bound boolean, serves boolean)
language sql stable rows 1 set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select c.has_tenants, b.is_bound, b.is_bound and coalesce(pg_has_role(to_regrole('lexichord_server'), 'usage'), false)
    from configuration c, (select lexichord_data.is_bound() and row_security_active('lexichord_data.document') as is_bound) as b
$$;
comment on function lexichord.tenancy() is
'Whether tenants are on, whether policies bind the caller, and whether the caller then may name a tenant for each question, as lexichord_server does. Readers may call it.';
