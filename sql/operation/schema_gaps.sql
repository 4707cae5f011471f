-- Whoever may create in a schema can put a function there that fits a call better than the one that was meant, and
-- it runs with the caller's rights. Those who could change the functions anyway are not named.
create or replace function lexichord.schema_gaps() returns table (problem text, statement text)
language sql stable set search_path = pg_catalog, pg_temp as $$
    with trusted as (
        select r.oid from pg_roles r
        where r.rolsuper or r.rolname = 'pg_database_owner'
           or r.oid in (select d.datdba from pg_database d where d.datname = current_database())
           or r.oid in (select c.relowner from pg_class c where c.oid = 'lexichord_data.chunk'::regclass)
    ), creator as (
        select n.nspname, case a.grantee when 0 then 'public' else quote_ident(r.rolname) end as name,
               bool_or(a.is_grantable) as grants
        from pg_namespace n
        cross join aclexplode(coalesce(n.nspacl, acldefault('n', n.nspowner))) as a
        left join pg_roles r on r.oid = a.grantee
        where (n.nspname in ('lexichord', 'lexichord_data') or n.oid in (
                  select e.extnamespace from pg_extension e join lexichord.named_extensions() as x on x.extension = e.extname))
          and a.privilege_type = 'CREATE' and a.grantee <> n.nspowner and a.grantee not in (select t.oid from trusted t)
        group by 1, 2
    )
    select format('%s may create objects in schema %I, which the functions look into',
                  string_agg(case c.name when 'public' then 'every role' else c.name end, ', ' order by c.name collate "C"), c.nspname),
           format('revoke create on schema %I from %s%s', c.nspname, string_agg(c.name, ', ' order by c.name collate "C"),
                  case when bool_or(c.grants) then ' cascade' else '' end)
    from creator c
    group by c.nspname
    order by c.nspname
$$;
comment on function lexichord.schema_gaps() is
'Who may create objects in a schema that the functions look into, with what takes that away. Not named are superusers and the owners of the schema, of the database and of the tables. Readers may call it.';
