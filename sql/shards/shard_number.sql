create or replace function lexichord.shard_number() returns integer
language sql stable set search_path = pg_catalog, pg_temp as $$
    select (s.seqstart >> 48)::integer from pg_sequence s where s.seqrelid = 'lexichord_data.chunk_id_seq'::regclass
$$;
comment on function lexichord.shard_number() is 'Which shard this database is, by where the ids that it gives begin: 0 is the home. Internal. Readers may call it.';
