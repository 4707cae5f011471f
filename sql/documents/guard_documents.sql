create or replace function lexichord.guard_documents() returns void
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    name text;
begin
    if (select c.has_tenants from configuration c) then
        raise exception 'a table with row-level security cannot be indexed where tenants are on'
            using errcode = 'invalid_parameter_value', hint = 'Index it in another database.';
    end if;
    foreach name in array array['document', 'chunk', 'card_term'] loop
        if not (select c.relrowsecurity from pg_class c where c.oid = format('lexichord_data.%I', name)::regclass) then
            execute format('alter table lexichord_data.%I enable row level security', name);
        end if;
    end loop;
end $$;
comment on function lexichord.guard_documents() is
'From here on, documents of rows that row-level security hides from a caller are hidden from it as well; all but the owner of the tables are asked. Internal.';
