-- The index lives in ordinary, logged pages: a restart loses nothing.
create or replace function lexichord.keyword_index_is_stale() returns boolean
language sql stable set search_path = pg_catalog, pg_temp as $$
    select false
$$;
comment on function lexichord.keyword_index_is_stale() is
'Whether the keyword index may have lost rows: never on this engine.';
