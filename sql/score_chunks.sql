-- As exact_keyword_candidates, but for given chunks and terms that carry their weights.
create or replace function lexichord.score_chunks(
    chunk_ids bigint[], lexemes text[], weights double precision[]
) returns table (chunk_id bigint, score double precision)
language sql stable rows 100
set search_path = lexichord_data, public, pg_catalog, pg_temp as $$
    select c.id, coalesce(sum(w.weight * cardinality(u.positions) * (b.k1 + 1)
           / (cardinality(u.positions) + b.k1 * (1 - b.b + b.b * c.token_count * n.chunk_count / n.token_count))), 0)
    from chunk c cross join corpus n cross join lexichord.bm25_parameters() as b
    left join lateral unnest(ts_filter(setweight(c.lexemes, 'A', score_chunks.lexemes), '{a}')) as u on true
    left join unnest(score_chunks.lexemes, score_chunks.weights) as w (lexeme, weight) on w.lexeme = u.lexeme
    where c.id = any(chunk_ids)
    group by c.id
$$;
comment on function lexichord.score_chunks(bigint[], text[], double precision[]) is
'BM25 of given chunks for given lexemes, each with its weight in place of its idf; 0 for a chunk that holds none.';
