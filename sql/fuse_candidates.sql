create or replace function lexichord.fuse_candidates(
    query text, query_vector halfvec, depth integer, scope bigint[], fusion text, weights double precision[], boost jsonb default null
) returns table (
    chunk_id bigint, document_id bigint, score double precision, dense_score double precision, dense_rank bigint,
    keyword_score double precision, keyword_rank bigint, fused_score double precision)
language plpgsql stable rows 200
set search_path = lexichord_data, public, pg_catalog, pg_temp as $$
begin
    return query select * from lexichord.fuse_terms(lexichord.lexemes(query), query_vector, depth, scope, fusion, weights, boost);
end $$;
comment on function lexichord.fuse_candidates(text, halfvec, integer, bigint[], text, double precision[], jsonb) is
'As fuse_terms, by the words of a query.';
