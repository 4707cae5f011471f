create or replace function lexichord.rebuild_indexes() returns boolean
language sql set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select lexichord.make_indexes(anew => n.chunk_count > 0) from corpus_statistics n
$$;
comment on function lexichord.rebuild_indexes() is
'Builds both indexes anew, with what fits the tables as they are now; writers wait, searches go on. Returns whether there are chunks.';
