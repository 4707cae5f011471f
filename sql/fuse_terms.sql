-- The candidates of both channels, fused: what every search is made of.
-- zscore: each channel's scores on the scale of its own list; a chunk that a list lacks counts as that list's lowest;
-- a list without spread counts 0. A keyword list shorter than the depth holds every chunk that matches; the others of
-- the scope score 0, so it goes on with zeros up to the depth, and the only chunk with a rare word stands far above
-- them. A dense list is short only where the scope is, and a cosine of 0 means nothing: it is taken as it is. One-word
-- questions, 45 each on code, contracts, documentation: the only chunk with the word is first in 2 to 11 % on the scale
-- of the entries alone, in 100 % with zeros. rrf: Reciprocal Rank Fusion (Cormack et al., 2009).
-- A boosted document's own chunks are candidates too, on the same scales, so that it can answer although
-- none of them is in the lists of the whole scope.
create or replace function lexichord.fuse_terms(
    terms tsvector, query_vector @extschema:vector@.halfvec, depth integer, scope bigint[], fusion text, weights double precision[], boost jsonb default null
) returns table (
    chunk_id bigint, document_id bigint, score double precision, dense_score double precision, dense_rank bigint,
    keyword_score double precision, keyword_rank bigint, fused_score double precision)
language plpgsql stable rows 200
set search_path = pg_catalog, lexichord_data, pg_temp
-- A custom plan looks cheaper each time, and costs a planning each time.
set plan_cache_mode = force_generic_plan as $$
declare
    boosted bigint[];
    by_words boolean := weights[2] > 0 and terms is not null;
    room bigint := case when scope is null then (select count(*) from (select from chunk limit depth) as c)
                   else (select count(*) from (select from chunk c where c.document_id = any(scope) limit depth) as c) end;
    vector @extschema:vector@.halfvec := case when weights[1] > 0 then coalesce(query_vector, lexichord.term_centroid(terms, scope)) end;
begin
    perform lexichord.check_boost(boost);
    boosted := (select array_agg(key::bigint) from jsonb_each(boost) where scope is null or key::bigint = any(scope));
    if scope <@ boosted then
        boosted := null;  -- the lists of the scope hold its chunks already
    end if;
    return query
    with dense as materialized (
        select d.* from lexichord.dense_candidates(vector, depth, scope) as d where vector is not null
    ), keyword as materialized (
        select w.* from lexichord.term_candidates(terms, depth, scope) as w where by_words
    ), dense_scale as (
        select avg(d.score) as mean, nullif(stddev_pop(d.score), 0) as spread, min(d.score) as lowest from dense d
    ), keyword_scale as (
        select avg(w.score) as mean, nullif(stddev_pop(w.score), 0) as spread, min(w.score) as lowest
        from (select k.score from keyword k union all select 0 from generate_series(1, room - (select count(*) from keyword))) as w
    ), candidate as (
        select c.chunk_id, c.document_id, max(c.dense_score) as dense_score, max(c.dense_rank) as dense_rank,
               max(c.keyword_score) as keyword_score, max(c.keyword_rank) as keyword_rank
        from (
            select d.chunk_id, d.document_id, d.score as dense_score, d.rank as dense_rank,
                   null::double precision as keyword_score, null::bigint as keyword_rank from dense d
            union all
            select d.chunk_id, d.document_id, d.score, null, null, null
            from lexichord.dense_candidates(vector, depth, boosted) as d where vector is not null and boosted is not null
            union all
            select w.chunk_id, w.document_id, null, null, w.score, w.rank from keyword w
            union all
            select w.chunk_id, w.document_id, null, null, w.score, null
            from lexichord.term_candidates(terms, depth, boosted) as w where by_words and boosted is not null
        ) as c
        group by c.chunk_id, c.document_id
    ), fused as (
        select c.*, case fusion
            when 'rrf' then coalesce(weights[1] / (lexichord.rrf_constant() + c.dense_rank), 0)
                     + coalesce(weights[2] / (lexichord.rrf_constant() + c.keyword_rank), 0)
            else weights[1] * coalesce((coalesce(c.dense_score, d.lowest) - d.mean) / d.spread, 0)
               + weights[2] * coalesce((coalesce(c.keyword_score, w.lowest) - w.mean) / w.spread, 0)
            end as fused_score
        from candidate c, dense_scale d, keyword_scale w
    )
    select f.chunk_id, f.document_id, f.fused_score + coalesce((boost ->> f.document_id::text)::double precision, 0),
           f.dense_score, f.dense_rank, f.keyword_score, f.keyword_rank, f.fused_score
    from fused f
    order by 3 desc, 1;
end $$;
comment on function lexichord.fuse_terms(tsvector, @extschema:vector@.halfvec, integer, bigint[], text, double precision[], jsonb) is
'Dense and keyword candidates of a scope, fused, best first; score = fused_score + the boost of the document.';
