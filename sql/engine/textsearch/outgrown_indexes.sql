-- Neither index has settings that depend on the size of the table.
create or replace function lexichord.outgrown_indexes() returns table (index_name text, reason text)
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select i.name, 'is missing'
    from (values ('chunk_hnsw'), ('keyword_bm25')) as i (name), corpus_statistics n
    where n.chunk_count > 0 and to_regclass('lexichord_data.' || i.name) is null
$$;
comment on function lexichord.outgrown_indexes() is
'The indexes that build_indexes would build: those that are missing, and those that fit the table no longer.';
