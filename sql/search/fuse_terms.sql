create or replace function lexichord.fuse_terms(
    terms tsvector, query_vector @extschema:vector@.halfvec, depth integer, scope bigint[], fusion text, weights double precision[], boost jsonb default null,
    candidates lexichord.candidate[] default null
) returns table (
    chunk_id bigint, document_id bigint, score double precision, dense_score double precision, dense_rank bigint,
    keyword_score double precision, keyword_rank bigint, fused_score double precision)
language plpgsql stable rows 200
set search_path = pg_catalog, lexichord_data, pg_temp
-- A custom plan looks cheaper each time, and costs a planning each time.
set plan_cache_mode = force_generic_plan as $$
declare
    boosted bigint[];
    vector @extschema:vector@.halfvec := case when weights[1] > 0 then coalesce(query_vector, lexichord.term_centroid(terms, scope)) end;
begin
    perform lexichord.check_boost(boost);
    if terms = ''::tsvector then  -- the vector of a question without a word is near to anything
        raise notice 'the query has no word to search by';
        return;
    end if;
    boosted := (select array_agg(key::bigint) from jsonb_each(boost) where scope is null or key::bigint = any(scope));
    if scope <@ boosted then
        boosted := null;  -- the lists of the scope hold its chunks already
    end if;
    return query select * from lexichord.fuse_candidates(
        array(select c from lexichord.own_candidates(case when weights[2] > 0 then terms end, vector, depth, scope, boosted,
            fuse_terms.candidates) as c),
        lexichord.chunk_room(depth, scope), fusion, weights, boost);
end $$;
comment on function lexichord.fuse_terms(tsvector, @extschema:vector@.halfvec, integer, bigint[], text, double precision[], jsonb, lexichord.candidate[]) is
'Dense and keyword candidates of a scope, fused, best first; score = fused_score + the boost of the document. Internal. Readers may call it.';
