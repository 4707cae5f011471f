create or replace function lexichord.keyword_index() returns table (index_name text, definition text)
language sql stable rows 1 set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select 'keyword_bm25', format('keyword using bm25 (keyword_text) with (text_config = ''simple'', k1 = %s, b = %s)', p.k1, p.b)
    from lexichord.bm25_parameters() as p
$$;
comment on function lexichord.keyword_index() is
'The name of the index over keyword, and what it is made on and by; no row = segments take its place. Internal. Readers may call it.';
