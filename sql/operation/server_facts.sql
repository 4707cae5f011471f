-- What lexichord/db/postmaster.py gives advice by: a row. Sizes are in bytes, those of all that is stored and of its largest index.
-- A tenant is not told these: they would show that another stores.
-- A server that is reached through a socket, or by the address from which it is asked, is on the same machine.
create or replace function lexichord.server_facts() returns table (
    shared_buffers bigint, maintenance_work_mem bigint, effective_cache_size bigint, max_parallel_maintenance_workers int,
    random_page_cost float8, jit boolean, stored_bytes bigint, index_bytes bigint, is_local boolean)
language sql stable set search_path = pg_catalog, pg_temp as $$
    select pg_size_bytes(current_setting('shared_buffers')), pg_size_bytes(current_setting('maintenance_work_mem')),
           pg_size_bytes(current_setting('effective_cache_size')), current_setting('max_parallel_maintenance_workers')::int,
           current_setting('random_page_cost')::float8, current_setting('jit')::boolean,
           case when not lexichord_data.is_bound() then coalesce(sum(pg_relation_size(c.oid)), 0)::bigint end,
           case when not lexichord_data.is_bound() then coalesce(max(pg_relation_size(c.oid)) filter (where c.relkind = 'i'), 0) end,
           coalesce(inet_server_addr() = inet_client_addr(), true)
    from pg_class c where c.relnamespace = 'lexichord_data'::regnamespace and c.relkind in ('r', 't', 'i', 'm')
$$;
comment on function lexichord.server_facts() is
'Settings of the server that decide its speed, the bytes that are stored and those of the largest index, and whether it is on the machine that asks; bytes null = the caller is a tenant. Readers may call it.';
