create or replace function lexichord.table_fault(made lexichord_data.indexed_table) returns text
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    gone text := (select string_agg(format('"%s"', k.name), ', ') from jsonb_object_keys(made.numbers) as k (name)
                  where (lexichord_data.current_columns(made, array[k.name]))[1] is null);
begin
    if gone is not null then
        return format('column %s is gone: say by lexichord.alter_index_table() what takes its place', gone);
    elsif not has_table_privilege(made.relation, 'select') then
        return format('role %I may not read it: grant select on %s to %I', current_user, made.name, current_user);
    elsif row_security_active(made.relation) then
        return format('row-level security hides rows from role %I, who indexes it: alter role %I bypassrls', current_user, current_user);
    elsif (select c.relrowsecurity from pg_class c where c.oid = made.relation) and (select c.has_tenants from configuration c) then
        return 'it has row-level security now, which does not go together with tenants: index it in another database';
    elsif not exists (select from pg_trigger t where t.tgrelid = made.relation and t.tgname = 'zz_lexichord_truncate' and t.tgenabled <> 'D') then
        return 'its triggers are gone or disabled: select lexichord.alter_index_table() makes them again';
    end if;
    execute 'explain ' || lexichord.rows_statement(made, '''{}''::text[]');
    return null;
exception when others then
    return format('it cannot be read as it was indexed (%s): say by lexichord.alter_index_table() what is meant', sqlerrm);
end $$;
comment on function lexichord.table_fault(lexichord_data.indexed_table) is 'Why the rows of an indexed table cannot be read as its definition says; null if they can. Internal.';
