-- Idempotent. Other versions are refused, and a server that has not loaded the libraries.
do $$
declare
    unfit text := (
        select string_agg(n.name || ' ' || coalesce(a.installed_version, a.default_version, 'missing'), ', ' order by n.name)
        from (values ('vchord', '1.1.'), ('vchord_bm25', '0.3.')) as n (name, wanted)
        left join pg_available_extensions a on a.name = n.name
        where not starts_with(coalesce(a.installed_version, a.default_version, ''), n.wanted));
    absent text := (
        select string_agg(n.library, ' and ' order by n.library)
        from (values ('vchord', 'vchordrq.probes'), ('vchord_bm25', 'bm25_catalog.bm25_limit')) as n (library, setting)
        where not exists (select from pg_settings s where s.name = n.setting));
begin
    if unfit is not null then
        raise exception 'the engine vectorchord needs vchord 1.1.x and vchord_bm25 0.3.x; found: %', unfit
            using errcode = 'feature_not_supported',
                  hint = 'Start the server of docker-compose.yml, or install these versions and run: alter extension ... update;';
    -- vchord refuses to work then; vchord_bm25 does not know its own settings before its first use.
    elsif absent is not null then
        raise exception 'the server has not loaded % at its start', absent
            using errcode = 'feature_not_supported',
                  hint = 'Set shared_preload_libraries = ''vchord,vchord_bm25'' in postgresql.conf and restart the server.';
    end if;
end $$;

-- vchord has the vector index (and brings pgvector's types), vchord_bm25 the BM25 index, in a schema of its own. What is
-- missing is made where a `create extension` by whoever runs init would make it: @extschema@ is the first schema of
-- their own search path.
create extension if not exists vchord schema @extschema@ cascade;
create extension if not exists vchord_bm25;
