create or replace function lexichord.keyword_candidates(
    query text, depth integer default lexichord.default_depth(), documents bigint[] default null
) returns table (chunk_id bigint, document_id bigint, rank bigint, score double precision)
language plpgsql stable rows 100
set search_path = pg_catalog, lexichord_data, pg_temp as $$
begin
    return query select * from lexichord.term_candidates(lexichord.query_lexemes(query, documents), depth, documents);
end $$;
comment on function lexichord.keyword_candidates(text, integer, bigint[]) is
'The depth chunks that match the query''s words best, best first; score = BM25. Chunks without any of the words are never returned. documents null = everywhere. Readers may call it.';
