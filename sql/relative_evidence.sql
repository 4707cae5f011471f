-- How a passage would read that answers is learnt from the best chunk of each of the 7 best documents anywhere; once
-- more after ranking the candidates by it. Then: the best of the given chunks by that measure, over the mean of the 7.
-- Tells whether a document answers (ContractNLI dev, AUROC, half A / B): this function .790 / .781, the keyword score
-- over the best possible .716 / .741, cosine .653 / .651. Its constants come from a prototype in numpy: 10 documents and
-- one round .774 / .775, two rounds .791 / .787; with 7 documents .799 / .793, with 15 .784 / .778.
create or replace function lexichord.relative_evidence(
    query text, chunk_ids bigint[], query_vector halfvec default null
) returns double precision
language plpgsql stable
set search_path = lexichord_data, public, pg_catalog, pg_temp as $$
declare
    ids bigint[]; documents bigint[]; fused double precision[]; meaning double precision[];
    ranking double precision[];
    best bigint[]; shares double precision[];
    names text[]; weights double precision[];
    given double precision; reference double precision;
begin
    select array_agg(f.chunk_id order by f.chunk_id), array_agg(f.document_id order by f.chunk_id),
           array_agg(f.fused_score order by f.chunk_id),
           array_agg(coalesce((f.dense - f.mean) / f.spread, 0) order by f.chunk_id)
    into ids, documents, fused, meaning
    from (select f.*, f.dense_score as dense, avg(f.dense_score) over () as mean, nullif(stddev_pop(f.dense_score) over (), 0) as spread
          from lexichord.fuse_candidates(query, query_vector, 100, null, 'zscore', '{0.35,0.65}') as f) as f;
    if ids is null then
        return null;
    end if;
    ranking := fused;
    for round in 1..2 loop
        select array_agg(b.id), array_agg(greatest(b.fused, 0.05)) into best, shares
        from (select d.* from (select distinct on (c.document_id) c.* from unnest(ids, documents, fused, ranking)
                               as c (id, document_id, fused, ranking) order by c.document_id, c.ranking desc, c.id) as d
              order by d.ranking desc, d.id limit 7) as b;
        select array_agg(m.lexeme), array_agg(m.weight) into names, weights
        from lexichord.relevance_model(query, best, shares) as m;
        select array_agg(0.35 * s.meaning + 0.65 * coalesce((s.score - s.mean) / s.spread, 0) order by s.id) into ranking
        from (select g.id, g.meaning, s.score, avg(s.score) over () as mean, nullif(stddev_pop(s.score) over (), 0) as spread
              from unnest(ids, meaning) as g (id, meaning) join lexichord.score_chunks(ids, names, weights) as s on s.chunk_id = g.id) as s;
    end loop;
    select max(s.score) into given from lexichord.score_chunks(chunk_ids, names, weights) as s;
    select avg(s.score) into reference from lexichord.score_chunks(best, names, weights) as s;
    return coalesce(given, 0) / nullif(reference, 0);
end $$;
comment on function lexichord.relative_evidence(text, bigint[], halfvec) is
'How well the best of the given chunks matches what the best passages of the whole database on this query have in common, over how well these do themselves: about 1 or more if nothing better is stored, near 0 if others say it and these chunks do not. Null if nothing matches at all.';
