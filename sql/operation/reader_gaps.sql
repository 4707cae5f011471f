-- Routines, because someone may have put a procedure there. Grants to other roles are theirs.
create or replace function lexichord.reader_gaps() returns table (problem text, statement text, ours boolean)
language sql stable set search_path = pg_catalog, pg_temp as $$
    with wanted as (
        select r.*, to_regrole('lexichord_reader')::oid as role,
               (select c.relowner::regrole from pg_class c where c.oid = 'lexichord_data.chunk'::regclass) as writer,
               array['lexichord', 'lexichord_data']::regnamespace[]::oid[] as schemas
        from lexichord.reader_rights() r
    ), extension as (
        select e.oid, e.extnamespace from pg_extension e
        where e.extname in ('vector', 'pg_textsearch', 'vchord', 'vchord_bm25')
    ), routine as (
        select p.oid::regprocedure::text as name, p.pronamespace = any(w.schemas) as ours,
               p.pronamespace = any(w.schemas) and p.proname = any(w.functions) as reads,
               coalesce(bool_or(a.grantee = 0), false) as everybody, coalesce(bool_or(a.grantee = w.role), false) as reader
        from wanted w
        join pg_proc p on p.pronamespace = any(w.schemas) or p.proname = any(w.maintenance) and exists (
            select from pg_depend d join extension e on d.refobjid = e.oid
            where d.refclassid = 'pg_extension'::regclass and d.classid = 'pg_proc'::regclass and d.objid = p.oid)
        left join aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) as a on true
        group by p.oid, w.schemas, w.functions
    ), relation as (
        select c.oid::regclass::text as name, (c.relname = any(w.tables) or c.relname ~ '^keyword_part_[0-9]+(_term)?$')
                   and not (g.has_tenants and c.relname = 'term') as reads,  -- of which only columns are
               coalesce(bool_or(a.privilege_type = 'SELECT'), false) as selects,
               coalesce(bool_or(a.privilege_type <> 'SELECT'), false) as writes
        from wanted w
        join pg_class c on c.relnamespace = 'lexichord_data'::regnamespace and c.relkind in ('r', 'v', 'm', 'p', 'f', 'S')
        left join aclexplode(c.relacl) as a on a.grantee = w.role
        cross join lexichord_data.configuration g
        where w.role is not null
        group by c.oid, w.tables, g.has_tenants
    )
    select 'the role lexichord_reader is missing', 'create role lexichord_reader nologin', false
    from wanted w where w.role is null
    union all
    select format('lexichord_reader may not use schema %I', n.nspname),
           format('grant usage on schema %I to lexichord_reader', n.nspname), n.oid = any(w.schemas)
    from wanted w join pg_namespace n on n.oid = any(w.schemas) or n.oid in (select e.extnamespace from extension e)
    where not has_schema_privilege(w.role, n.oid, 'usage')
    union all
    select format('lexichord_reader may not call %s functions that read', count(*)),
           format('grant execute on routine %s to lexichord_reader', string_agg(r.name, ', ' order by r.name)), true
    from wanted w, routine r where w.role is not null and r.reads and not r.reader having count(*) > 0
    union all
    select format('%s functions that are none of a reader''s may be called by everybody or lexichord_reader', count(*)),
           format('revoke execute on routine %s from %s', string_agg(r.name, ', ' order by r.name),
                  concat_ws(', ', 'public', w.role::regrole)), true
    from wanted w, routine r where r.ours and not r.reads and (r.everybody or r.reader) group by w.role
    union all
    select format('%s maintenance functions of the extensions may be called by everybody', count(*)),
           format('revoke execute on routine %1$s from %2$s; grant execute on routine %1$s to %3$s',
                  string_agg(r.name, ', ' order by r.name), concat_ws(', ', 'public', w.role::regrole), w.writer), false
    from wanted w, routine r where not r.ours and (r.everybody or r.reader) group by w.role, w.writer
    union all
    select format('lexichord_reader may not read %s', string_agg(r.name, ', ' order by r.name)),
           format('grant select on table %s to lexichord_reader', string_agg(r.name, ', ' order by r.name)), true
    from relation r where r.reads and not r.selects having count(*) > 0
    union all
    select format('lexichord_reader may do too much with %s', string_agg(r.name, ', ' order by r.name)),
           format('revoke all on table %s from lexichord_reader', string_agg(r.name, ', ' order by r.name)), true
    from relation r where r.writes or r.selects and not r.reads having count(*) > 0
$$;
comment on function lexichord.reader_gaps() is
'How the rights of role lexichord_reader in this database differ from reader_rights(), with what mends it; ours = the tables'' owner may run that, as grant_reader does. No row = as it should be. Readers may call it.';
