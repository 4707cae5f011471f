-- Faults that concern lexichord, by their projects' change logs and by measurements of our own. first_version null = from
-- the first release on; last_version and mended_in null = in no release yet. refuse: init stops, and doctor calls it a
-- problem; warn: both name it.
create or replace function lexichord.known_faults() returns table (
    extension text, engines text[], first_version text, last_version text, problem text, mended_in text, severity text)
language sql immutable parallel safe rows 15 set search_path = pg_catalog, pg_temp as $$
    values
    ('vector', '{plain,textsearch,citus}'::text[], null, '0.7.4', 'filtered searches end before they have found enough', '0.8.0', 'refuse'),
    ('vector', '{plain,textsearch,citus}', '0.6.0', '0.8.1', 'a parallel build of an HNSW index overflows a buffer', '0.8.2', 'warn'),
    ('vector', '{plain,textsearch,citus}', '0.5.0', '0.8.2', 'vacuum may damage an HNSW index, so that searches miss chunks', '0.8.3', 'warn'),
    ('vector', '{plain,textsearch,citus}', '0.8.3', '0.8.3', 'vacuum may fail with "hnsw graph not repaired"', '0.8.4', 'warn'),
    ('pg_textsearch', '{textsearch}', '0.6.1', '0.6.1', 'searches lose hits after the second ingest', '1.4.0', 'refuse'),
    ('pg_textsearch', '{textsearch}', null, '1.3.1', 'scores are shown to roles that may not read the table', '1.4.0', 'refuse'),
    ('pg_textsearch', '{textsearch}', '0.5.1', '1.3.0', 'searches amid writes may return a row twice', '1.3.1', 'refuse'),
    ('pg_textsearch', '{textsearch}', '0.3.0', '1.1.0', 'questions of seven or more words may never end', '1.2.0', 'refuse'),
    ('pg_textsearch', '{textsearch}', '0.3.0', '1.1.0', 'deep searches score some rows too low', '1.2.0', 'refuse'),
    ('pg_textsearch', '{textsearch}', null, '1.1.0', 'the index does not reach standbys', '1.2.0', 'refuse'),
    ('pg_textsearch', '{textsearch}', '1.3.0', null, 'searches by its cache, amid writes and a vacuum, may all wait for good; lexichord''s go without it', null, 'warn'),
    ('pg_textsearch', '{textsearch}', '1.4.0', null, 'a vacuum beside writes and a rebuild may get stuck, until the server restarts itself after some minutes', null, 'warn'),
    ('vchord_bm25', '{vectorchord}', '0.3.0', null, 'rows that came after the index was built are read whole, and filtered last', null, 'warn'),
    ('vchord_bm25', '{vectorchord}', '0.3.0', null, 'a block of postings whose best is the last may be passed over; lexichord''s segments keep it beside the index', null, 'warn'),
    ('vchord_bm25', '{vectorchord}', '0.3.0', null, 'a crash amid writes may damage the index, until select lexichord.rebuild_indexes();', null, 'warn')
$$;
comment on function lexichord.known_faults() is
'The faults of the extensions'' versions, from the first to the last that has each, with the engines that meet it. init stops at those to refuse and warns of the others. Readers may call it.';
