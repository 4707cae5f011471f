-- RM3 (Lavrenko & Croft, 2001; Jaleel et al., 2004): the relevance model is the mean of the chunks' own term
-- distributions, here times idf, interpolated with the query's. The numbers were chosen on half of ContractNLI dev, mAP of the spans of a document: 20 documents, 30 terms, .15 63.2;
-- .3 62.1; 50 terms, .15 62.6; .3 62.2; .5 61.2; 40 documents, 50 terms, .3 62.1; no feedback 52.7.
-- term_change is empty at one time and large at another: a plan made for the one would read all of it, once a term.
create or replace function lexichord.feedback_terms(
    query text, chunks bigint[], terms integer default 30, original_weight double precision default 0.15
) returns table (lexeme text, weight double precision, times integer)
language plpgsql stable rows 50
set search_path = pg_catalog, lexichord_data, pg_temp
set enable_seqscan = off set jit = off as $$
declare
    of_chunks bigint[] := array(select distinct c.document_id from chunk c where c.id = any(chunks));
begin
    if terms is null or terms < 1 or original_weight is null or original_weight not between 0 and 1 then
        raise exception 'terms must be at least 1, original_weight between 0 and 1' using errcode = 'invalid_parameter_value';
    end if;
    return query
    with seen as (
        select u.lexeme, sum(cardinality(u.positions)::float8 / c.token_count) as share
        from chunk c, unnest(c.lexemes) as u
        where c.id = any(chunks)
        group by u.lexeme
    ), weighed as (
        select s.lexeme, s.share * ln(1 + (n.chunk_count - t.df + 0.5::float8) / (t.df + 0.5::float8)) as weight
        from seen s join term_statistics t on t.lexeme = s.lexeme collate "C", corpus_statistics n
        order by weight desc, s.lexeme collate "C"
        limit terms
    ), model as (
        select w.lexeme, (1 - original_weight) * w.weight / sum(w.weight) over () as weight from weighed w
        union all
        select q.lexeme, original_weight * cardinality(q.positions) / sum(cardinality(q.positions)) over ()
        from unnest(lexichord.query_lexemes(query, of_chunks)) as q
    )
    select m.lexeme, sum(m.weight), least(greatest(round(200 * sum(m.weight)), 1), 255)::integer
    from model m
    group by m.lexeme
    order by sum(m.weight) desc, m.lexeme collate "C";
end $$;
comment on function lexichord.feedback_terms(text, bigint[], integer, double precision) is
'Lexemes that say what a query is about, learned from chunks (RM3), with weights that sum to 1 and as whole numbers of times. Readers may call it.';
