create or replace function lexichord.refuse_vechord_rows(namespace text) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
    name text;
    filled boolean;
begin
    foreach name in array array[namespace || '_defaultdocument', namespace || '_defaultchunk'] loop
        if to_regclass(format('public.%I', name)) is not null then
            execute format('select exists (select from public.%I)', name) into filled;
            if filled then
                raise exception 'table % holds rows already, and nothing is overwritten', name
                    using errcode = 'invalid_parameter_value', hint = 'Take another namespace, or drop the tables of this one.';
            end if;
        end if;
    end loop;
end $$;
comment on function lexichord.refuse_vechord_rows(text) is 'Raises an error if the default tables of a vechord namespace hold rows. Internal.';
