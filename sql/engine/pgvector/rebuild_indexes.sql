-- The locks come first, the corpus row's as in every writer, so that none is between its rows and its mark.
create or replace function lexichord.rebuild_indexes() returns boolean
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
begin
    perform from corpus for no key update;
    lock table chunk in share mode;
    drop index if exists chunk_hnsw, chunk_bm25;
    delete from unsaved_keywords;
    return lexichord.build_indexes();
end $$;
comment on function lexichord.rebuild_indexes() is
'Builds both indexes anew; searching and writing wait. Returns whether there are chunks.';
