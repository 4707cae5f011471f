create or replace function lexichord.exact_keyword_candidates(
    query text, depth integer default lexichord.default_depth(), documents bigint[] default null
) returns table (chunk_id bigint, document_id bigint, rank bigint, score double precision)
language plpgsql stable rows 100
set search_path = pg_catalog, lexichord_data, pg_temp as $$
begin
    return query select * from lexichord.exact_term_candidates(lexichord.query_lexemes(query, documents), depth, documents);
end $$;
comment on function lexichord.exact_keyword_candidates(text, integer, bigint[]) is
'As keyword_candidates, by BM25 over the stored lexemes of every chunk in scope: for narrow scopes, and to check the index against. Readers may call it.';
