create or replace function lexichord.outgrown_indexes() returns table (index_name text, reason text)
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select 'chunk_hnsw', 'is missing'
    from corpus_statistics n where n.chunk_count > 0 and to_regclass('lexichord_data.chunk_hnsw') is null
    union all
    select u.index_name, u.reason from lexichord.unsealed_keywords() as u
$$;
comment on function lexichord.outgrown_indexes() is
'The indexes that build_indexes would build: those that are missing, and those that fit the table no longer.';
