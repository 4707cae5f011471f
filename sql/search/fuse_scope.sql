create or replace function lexichord.fuse_scope(
    query text, terms jsonb, query_vector @extschema:vector@.halfvec, depth integer, datasets text[], documents bigint[], uri_prefix text, filter jsonb,
    weights double precision[], boost jsonb, query_space text, fusion text,
    candidates lexichord.candidate[] default null
) returns table (
    chunk_id bigint, document_id bigint, score double precision, dense_score double precision, dense_rank bigint,
    keyword_score double precision, keyword_rank bigint, fused_score double precision)
language plpgsql stable rows 200
set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    scope constant bigint[] := lexichord.scope_documents(datasets, documents, uri_prefix, filter);
begin
    return query select * from lexichord.fuse_terms(
        coalesce(lexichord.weighted_terms(terms), lexichord.query_lexemes(query, scope)), query_vector, depth, scope, fusion, weights, boost, candidates);
end $$;
comment on function lexichord.fuse_scope(text, jsonb, @extschema:vector@.halfvec, integer, text[], bigint[], text, jsonb, double precision[], jsonb, text, text, lexichord.candidate[]) is
'Dense and keyword candidates of a scope, fused, best first: what every search is made of. terms take the place of the query''s own words. Internal. Readers may call it.';
