create or replace function lexichord.list_shards() returns table (number integer, dsn text, added_at timestamptz)
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select s.number, s.dsn, s.added_at from shard s order by s.number
$$;
comment on function lexichord.list_shards() is
'The other shards, where this database is the home of several; itself, number 0, is not among them. Readers may call it.';
