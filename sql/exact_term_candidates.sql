-- BM25 with the index's own k1 and b, so that both kinds of score may stand in one list, and Lucene's idf, ln(1 + (N - df + .5) / (df + .5)).
-- A repeated query term counts as often as it occurs.
create or replace function lexichord.exact_term_candidates(
    terms tsvector, depth integer default lexichord.default_depth(), documents bigint[] default null
) returns table (chunk_id bigint, document_id bigint, rank bigint, score double precision)
language plpgsql stable rows 100
set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    names text[] := tsvector_to_array(terms);
    weights double precision[];
    average double precision;
    bm25 record;
begin
    if coalesce(cardinality(names), 0) = 0 then
        return;
    end if;
    select array_agg(cardinality(q.positions) * ln(1 + (n.chunk_count - coalesce(t.df, 0) + 0.5::float8) / (coalesce(t.df, 0) + 0.5::float8))
                     order by q.lexeme collate "C")
    into weights
    from corpus n, unnest(terms) as q left join term t on t.lexeme = q.lexeme collate "C";
    select n.token_count::float8 / nullif(n.chunk_count, 0) into average from corpus n;
    select p.k1, p.b into bm25 from lexichord.bm25_parameters() as p;
    -- setweight and ts_filter leave only the query's lexemes, in C: unnesting whole vectors takes twice as long.
    -- A statement without the condition, not "documents is null or", so that the index is used.
    return query execute format($query$
        select c.id, c.document_id, row_number() over (order by c.score desc, c.id), c.score
        from (select c.id, c.document_id, sum(w.weight * cardinality(u.positions) * ($5 + 1)
                     / (cardinality(u.positions) + $5 * (1 - $6 + $6 * c.token_count / $4))) as score
              from chunk c,
                   unnest(ts_filter(setweight(c.lexemes, 'A', $1), '{a}')) as u
                   join unnest($1, $2) as w (lexeme, weight) on w.lexeme = u.lexeme
              %s group by c.id) as c
        order by c.score desc, c.id limit $3
        $query$, case when documents is not null then 'where c.document_id = any($7)' end)
    using names, weights, depth, average, bm25.k1, bm25.b, documents;
end $$;
comment on function lexichord.exact_term_candidates(tsvector, integer, bigint[]) is
'As term_candidates, by BM25 over the stored lexemes of every chunk in scope.';
