create or replace function lexichord.hybrid_search(
    query text, query_vector @extschema:vector@.halfvec default null, k integer default lexichord.default_k(), depth integer default lexichord.default_depth(),
    datasets text[] default null, documents bigint[] default null, uri_prefix text default null, filter jsonb default null,
    fusion text default lexichord.default_fusion(), weights double precision[] default lexichord.default_weights(),
    boost jsonb default null, query_space text default null
) returns setof lexichord.hit
language plpgsql stable rows 10
set search_path = pg_catalog, lexichord_data, pg_temp
-- A custom plan looks cheaper each time, and costs a planning each time.
set plan_cache_mode = force_generic_plan as $$
declare
    is_checked constant boolean := lexichord.check_search(query, query_vector, query_space, k, depth, fusion, weights);
    vector @extschema:vector@.halfvec := coalesce(query_vector, lexichord.known_vector(query));
    -- As fuse_scope does: an error of a scope passes no other function so.
    scope constant bigint[] := lexichord.scope_documents(datasets, documents, uri_prefix, filter);
begin
    return query
    with best as materialized (
        select f.*
        from lexichord.fuse_terms(lexichord.query_lexemes(query, scope), vector, depth, scope, fusion, weights, boost) as f
        order by f.score desc, f.chunk_id limit k
    )
    select h.*, b.score, b.dense_score, b.dense_rank, b.keyword_score, b.keyword_rank, b.fused_score
    from best b join lexichord.read_hits(array(select b.chunk_id from best b)) as h on h.chunk_id = b.chunk_id
    where not lexichord_data.is_bound()
       or exists (select from dataset s where s.name = h.dataset and s.id = any ((select lexichord_data.own_datasets())::bigint[]))
    order by b.score desc, b.chunk_id;
end $$;
comment on function lexichord.hybrid_search(text, @extschema:vector@.halfvec, integer, integer, text[], bigint[], text, jsonb, text, double precision[], jsonb, text) is
'The k best chunks for a query by meaning and by words. depth = candidates per channel (k never changes the head of the list); weights = {dense,keyword}, 0 leaves a channel out; boost = {"document id": points added}; query_space = the space that query_vector is of. Without a vector the one that prepare_query() had made is taken, else the keyword hits'' centroid. Readers may call it.';
