-- The one fusion: what every search is made of.
-- zscore: each channel's scores on the scale of its own list; a chunk that a list lacks counts as that list's lowest;
-- a list without spread counts 0. A keyword list shorter than the depth holds every chunk that matches; the others of
-- the scope score 0, so it goes on with zeros up to the depth (10,000 at most, as check_search has it), and the only
-- chunk with a rare word stands far above them. A dense list is short only where the scope is, and a cosine of 0 means nothing: it is taken as it is. One-word
-- questions, 45 each on code, contracts, documentation: the only chunk with the word is first in 2 to 11 % on the scale
-- of the entries alone, in 100 % with zeros. rrf: Reciprocal Rank Fusion (Cormack et al., 2009).
create or replace function lexichord.fuse_candidates(
    candidates lexichord.candidate[], room bigint, fusion text, weights double precision[], boost jsonb default null
) returns table (
    chunk_id bigint, document_id bigint, score double precision, dense_score double precision, dense_rank bigint,
    keyword_score double precision, keyword_rank bigint, fused_score double precision)
language plpgsql stable rows 200
set search_path = pg_catalog, lexichord_data, pg_temp
-- A custom plan looks cheaper each time, and costs a planning each time.
set plan_cache_mode = force_generic_plan as $$
begin
    return query
    with entry as materialized (
        select * from unnest(candidates) as e
    ), dense_scale as (
        select avg(e.score) as mean, nullif(stddev_pop(e.score), 0) as spread, min(e.score) as lowest
        from entry e where e.channel = 'dense' and not e.is_boosted
    ), keyword as (
        select e.score from entry e where e.channel = 'keyword' and not e.is_boosted
    ), keyword_scale as (
        select avg(w.score) as mean, nullif(stddev_pop(w.score), 0) as spread, min(w.score) as lowest
        from (select k.score from keyword k union all select 0 from generate_series(1, least(room, 10000) - (select count(*) from keyword))) as w
    ), candidate as (
        select e.chunk_id, e.document_id,
               max(e.score) filter (where e.channel = 'dense') as dense_score,
               max(e.rank) filter (where e.channel = 'dense' and not e.is_boosted) as dense_rank,
               max(e.score) filter (where e.channel = 'keyword') as keyword_score,
               max(e.rank) filter (where e.channel = 'keyword' and not e.is_boosted) as keyword_rank
        from entry e group by e.chunk_id, e.document_id
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
comment on function lexichord.fuse_candidates(lexichord.candidate[], bigint, text, double precision[], jsonb) is
'Candidates of both channels, fused, best first; score = fused_score + the boost of the document. room = chunks in scope, up to the depth. Internal. Readers may call it.';
