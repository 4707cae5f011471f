-- The values stand in state/keyword.sql, as stored impacts are made by them.
create or replace function lexichord.bm25_parameters() returns table (k1 double precision, b double precision, average_length double precision)
language sql stable parallel safe rows 1 set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select p.k1, p.b, n.average_length from lexichord_data.bm25_parameters() as p, corpus_statistics n
$$;
comment on function lexichord.bm25_parameters() is
'The k1 and b of every BM25 score, and the mean length of a chunk, in lexemes, by which the stored impacts were made. Readers may call it.';
