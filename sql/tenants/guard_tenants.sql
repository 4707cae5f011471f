-- Run again after each change of functions and tables: a new table is closed until a policy opens it, and functions that
-- are replaced run as their caller.
create or replace function lexichord.guard_tenants() returns void
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp set client_min_messages = error as $$
declare
    each record;
    propagation constant text := coalesce(current_setting('citus.enable_ddl_propagation', true), '');
begin
    if not (select c.has_tenants from configuration c) then
        return;
    end if;
    if to_regrole('lexichord_server') is null then
        begin
            perform set_config('citus.enable_ddl_propagation', 'on', true);  -- the workers of a cluster are told whom it is granted to
            create role lexichord_server nologin;
            perform set_config('citus.enable_ddl_propagation', propagation, true);
        exception when insufficient_privilege then
            raise exception 'the role lexichord_server is missing' using errcode = 'invalid_parameter_value',
                hint = 'Have a superuser run: create role lexichord_server nologin';
        end;
    end if;
    perform lexichord.make_tenant_views();
    for each in  -- policies of indexed tables let through what they do not hide
        select p.polname, c.oid::regclass as relation from pg_policy p join pg_class c on c.oid = p.polrelid
        where c.relnamespace = 'lexichord_data'::regnamespace
    loop
        execute format('drop policy %I on %s', each.polname, each.relation);
    end loop;
    for each in
        select c.oid::regclass as relation, c.relrowsecurity, r.condition
        from pg_class c left join lexichord.tenant_policies() as r on r.table_name = c.relname
        where c.relnamespace = 'lexichord_data'::regnamespace and c.relkind = 'r'
    loop
        if not each.relrowsecurity then
            execute format('alter table %s enable row level security', each.relation);
        end if;
        if each.condition is not null then
            execute format('create policy own on %s for select using (%s)', each.relation, each.condition);
        end if;
    end loop;
    create index if not exists document_text_config_of_dataset on document (dataset_id, text_config);
    create or replace trigger fill_principals before insert or update of metadata on document
        for each row execute function fill_principals();
    for each in
        select p.oid::regprocedure as routine, r.runs_as_owner, r.for_server
        from lexichord.tenant_functions() as r join pg_proc p on p.proname = r.function_name and p.pronamespace = 'lexichord'::regnamespace
    loop
        if each.runs_as_owner then
            execute format('alter function %s security definer', each.routine);
        end if;
        if each.for_server then
            execute format('grant execute on function %s to lexichord_server', each.routine);
        end if;
    end loop;
    revoke select on term from lexichord_reader;  -- df is of all
    grant select (id, lexeme) on term to lexichord_reader;
    grant usage on schema lexichord, lexichord_data to lexichord_server;
    grant select on run, run_file to lexichord_server;
    if not pg_has_role('lexichord_server', 'lexichord_reader', 'usage') then
        grant lexichord_reader to lexichord_server;
    end if;
end $$;
comment on function lexichord.guard_tenants() is
'Where tenants are on, makes policies, rights and functions what they have to be; else nothing.';
