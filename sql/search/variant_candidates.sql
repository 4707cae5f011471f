create or replace function lexichord.variant_candidates(
    query text, terms jsonb default null, query_vector @extschema:vector@.halfvec default null, depth integer default lexichord.default_depth(),
    datasets text[] default null, documents bigint[] default null, uri_prefix text default null, filter jsonb default null,
    weights double precision[] default lexichord.default_weights(), boost jsonb default null, query_space text default null,
    candidates lexichord.candidate[] default null
) returns table (
    chunk_id bigint, document_id bigint, rank bigint, score double precision, dense_score double precision, dense_rank bigint,
    keyword_score double precision, keyword_rank bigint, fused_score double precision)
language plpgsql stable rows 100
set search_path = pg_catalog, lexichord_data, pg_temp
-- A custom plan looks cheaper each time, and costs a planning each time.
set plan_cache_mode = force_generic_plan as $$
begin
    perform lexichord.check_search(coalesce(query, terms::text), query_vector, query_space, 1, depth, lexichord.default_fusion(), weights);
    return query
    select f.chunk_id, f.document_id, row_number() over (order by f.score desc, f.chunk_id), f.score,
           f.dense_score, f.dense_rank, f.keyword_score, f.keyword_rank, f.fused_score
    from lexichord.fuse_scope(query, terms, query_vector, depth, datasets, documents, uri_prefix, filter, weights, boost, query_space,
             lexichord.default_fusion(), variant_candidates.candidates) as f
    order by f.score desc, f.chunk_id
    limit depth;
end $$;
comment on function lexichord.variant_candidates(text, jsonb, @extschema:vector@.halfvec, integer, text[], bigint[], text, jsonb, double precision[], jsonb, text, lexichord.candidate[]) is
'The depth best chunks of one variant, as hybrid_search ranks them, without their texts. terms = {"lexeme": times} takes the place of the query''s own words. candidates = what propose_candidates gave for the same question in the same scope. Readers may call it.';
