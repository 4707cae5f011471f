-- Idempotent. citus spreads the two tables that searches compare over its workers; vector has the HNSW index and the sparse
-- vectors. Whoever runs the cluster makes citus and adds the workers: that takes addresses, and rights on other servers.
do $$
begin
    if not exists (select from pg_extension e where e.extname = 'citus') then
        raise exception 'the engine citus needs a database that is a coordinator of Citus, and this one is none'
            using errcode = 'feature_not_supported', hint = 'Run create extension citus here and on each worker, then citus_add_node here for each.';
    elsif not exists (select from pg_dist_node n where n.isactive and n.shouldhaveshards and n.noderole = 'primary') then
        raise exception 'the engine citus needs workers, and this coordinator has none'
            using errcode = 'feature_not_supported', hint = 'Run select citus_add_node(host, port) for each, or citus_set_node_property(host, port, ''shouldhaveshards'', true) for the coordinator itself.';
    end if;
    set local citus.enable_ddl_propagation = on;
    create extension if not exists vector schema @extschema@;
    set local citus.enable_ddl_propagation = off;
end $$;
