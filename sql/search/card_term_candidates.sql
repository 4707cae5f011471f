-- BM25 over document cards with squared idf (97 % of 557 documents first, against 81 % with plain idf):
-- what tells one document from all others counts far more than what many share. k1 1.2, b 0.3.
create or replace function lexichord.card_term_candidates(
    terms tsvector, depth integer default lexichord.default_depth(), documents bigint[] default null
) returns table (document_id bigint, rank bigint, score double precision)
language plpgsql stable rows 100
set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    stored bigint;
    card_tokens bigint;
begin
    select n.document_count, n.card_token_count into stored, card_tokens from corpus_statistics n;
    return query
    with weighed as materialized (
        select q.lexeme, cardinality(q.positions) * ln(1 + (stored - h.cards + 0.5::float8) / (h.cards + 0.5::float8)) ^ 2 as weight
        from unnest(terms) as q
        cross join lateral (select count(*) as cards from card_term c where c.lexeme = q.lexeme collate "C") as h
    ), scored as (
        -- In the terms' order: the last bit of a score would go by the plan, and of equal cards now one would be first, now the other.
        select c.document_id, sum(w.weight * c.tf * 2.2::float8
               / (c.tf + 1.2::float8 * (0.7::float8 + 0.3::float8 * c.card_length * stored / card_tokens)) order by c.lexeme) as score
        from weighed w join card_term c on c.lexeme = w.lexeme collate "C"
        where documents is null or c.document_id = any(documents)
        group by c.document_id
    )
    select s.document_id, row_number() over (order by s.score desc, s.document_id), s.score
    from scored s
    order by s.score desc, s.document_id
    limit depth;
end $$;
comment on function lexichord.card_term_candidates(tsvector, integer, bigint[]) is
'The documents whose cards (title twice, file name, first 1,500 characters) match terms best. Internal. Readers may call it.';
