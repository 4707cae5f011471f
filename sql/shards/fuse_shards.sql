create or replace function lexichord.fuse_shards(
    query text, terms jsonb, query_vector @extschema:vector@.halfvec, depth integer, datasets text[], documents bigint[], uri_prefix text, filter jsonb,
    weights double precision[], boost jsonb, query_space text, fusion text
) returns table (
    chunk_id bigint, document_id bigint, score double precision, dense_score double precision, dense_rank bigint,
    keyword_score double precision, keyword_rank bigint, fused_score double precision)
language plpgsql stable rows 200
set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    lists record;
begin
    perform lexichord.check_boost(boost);
    if query_vector is null and weights[1] > 0 then
        lists := lexichord.gather_candidates(query, terms, null, depth, datasets, documents, uri_prefix, filter, '{0,1}', null, null);
        query_vector := lexichord.gather_centroid(lists.candidates);
    end if;
    lists := lexichord.gather_candidates(query, terms, query_vector, depth, datasets, documents, uri_prefix, filter, weights, boost, query_space);
    return query select * from lexichord.fuse_candidates(lists.candidates, lists.room, fusion, weights, boost);
end $$;
comment on function lexichord.fuse_shards(text, jsonb, @extschema:vector@.halfvec, integer, text[], bigint[], text, jsonb, double precision[], jsonb, text, text) is
'Dense and keyword candidates of a scope on all shards, fused as fuse_terms does, best first. Internal. Readers may call it.';
