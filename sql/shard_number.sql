create or replace function lexichord.shard_number() returns integer
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select (s.last_value >> 48)::integer from chunk_id_seq s
$$;
comment on function lexichord.shard_number() is 'Which shard this database is, by the ids that it gives: 0 is the home.';
