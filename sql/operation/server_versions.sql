create or replace function lexichord.server_versions() returns table (name text, version text)
language sql stable set search_path = pg_catalog, pg_temp as $$
    select 'postgres', current_setting('server_version')
    union all
    (select extname, extversion from pg_extension
     where extname in ('vector', 'pg_textsearch', 'vchord', 'vchord_bm25', 'citus') order by extname)
$$;
comment on function lexichord.server_versions() is 'The versions of the server and of the extensions that search with it. Readers may call it.';
