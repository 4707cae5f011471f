create or replace function lexichord.find_cosine_scale() returns table (
    space text, unlike double precision, alike double precision, sentences integer, chunks bigint, stored bigint,
    measured_at timestamptz)
language sql stable rows 1 set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select s.space, s.unlike, s.alike, s.sentences, s.chunks, n.chunk_count, s.measured_at
    from cosine_scale s, corpus_statistics n where s.space = (select b.space from lexichord.configuration() as b)
$$;
comment on function lexichord.find_cosine_scale() is
'Where cosines of the database''s space lie, by a sample of sentences, how many chunks were stored when that was measured, and how many are now; no row where nothing was measured. Readers may call it.';
