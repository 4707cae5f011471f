-- Rows that a table's own row-level security hides are hidden by who reads them; functions that know the tenant read as
-- their owner. The two do not go together.
create or replace function lexichord.turn_tenants_on() returns void
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp set lock_timeout = '30s' as $$
declare
    guarded text := (select string_agg(t.name, ', ' order by t.name) from indexed_table t where t.is_guarded);
begin
    if guarded is not null then
        raise exception 'indexed tables have row-level security of their own (%), which does not go together with tenants', guarded
            using errcode = 'invalid_parameter_value', hint = 'Index them in another database.';
    end if;
    -- Else the first chunk of all would say what length is usual; of our sets the mean is 88 to 90.
    update corpus set average_length = 90 where average_length is null;
    update configuration set has_tenants = true;
    perform lexichord.guard_tenants();
    perform lexichord.grant_reader();
    update document d set metadata = d.metadata where d.metadata ? 'principals';  -- by the trigger
end $$;
comment on function lexichord.turn_tenants_on() is
'From here on who does not own the tables sees of them what is their tenant''s, and nothing without one.';
