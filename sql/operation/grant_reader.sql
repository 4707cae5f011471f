-- Called by init in the transaction that replaces the functions, so that a new one is nobody's for no moment.
create or replace function lexichord.grant_reader() returns void
language plpgsql set search_path = pg_catalog, pg_temp set client_min_messages = error as $$
declare
    each text;
    propagation constant text := coalesce(current_setting('citus.enable_ddl_propagation', true), '');
begin
    for pass in 1..2 loop  -- the role is granted to once it is there, and again what too much was taken from
        for each in select g.statement from lexichord.reader_gaps() g loop
            begin
                if each ~ '^create role' then  -- the workers of a cluster are told whom it is granted to
                    perform set_config('citus.enable_ddl_propagation', 'on', true);
                end if;
                execute each;
                perform set_config('citus.enable_ddl_propagation', propagation, true);
            exception when others then
                null;  -- the caller may not do it, or another database has made the role by now: find_problems tells
            end;
        end loop;
        exit when not found;
    end loop;
end $$;
comment on function lexichord.grant_reader() is
'Makes role lexichord_reader and gives it what reader_rights() says, no more and no less, as far as the caller may; find_problems tells what is left.';
