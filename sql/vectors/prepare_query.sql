-- A procedure, for a worker sees a request only once it is committed; one that commits may have no path of its own, so
-- every name is qualified.
create or replace procedure lexichord.prepare_query(query text, wait_ms integer default 5000)
language plpgsql as $$
declare
    asked_at timestamptz := pg_catalog.clock_timestamp();
begin
    perform lexichord.request_vector(query);
    commit;
    while lexichord.awaits_vector(query, asked_at, wait_ms) loop
        perform pg_catalog.pg_sleep(0.005::pg_catalog.float8);
        commit;
    end loop;
end $$;
comment on procedure lexichord.prepare_query(text, integer) is
'Has a worker embed a query and waits for it: hybrid_search and search_table then find its vector, and embed() returns it. An error if no worker answers in time. It commits, so call it outside a transaction.';
