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
    with matched as (
        select q.lexeme, cardinality(q.positions) as times, c.document_id, c.tf
        from unnest(terms) as q join card_term c on c.lexeme = q.lexeme collate "C"
    ), weighed as (
        select h.lexeme, h.times * ln(1 + (stored - h.cards + 0.5::float8) / (h.cards + 0.5::float8)) ^ 2 as weight
        from (select m.lexeme, max(m.times) as times, count(*) as cards from matched m group by m.lexeme) as h
    ), scored as (
        select m.document_id, sum(w.weight * m.tf * 2.2::float8
               / (m.tf + 1.2::float8 * (0.7::float8 + 0.3::float8 * d.card_length * stored / card_tokens))) as score
        from matched m join weighed w using (lexeme) join document d on d.id = m.document_id
        where documents is null or m.document_id = any(documents)
        group by m.document_id
    )
    select s.document_id, row_number() over (order by s.score desc, s.document_id), s.score
    from scored s
    order by s.score desc, s.document_id
    limit depth;
end $$;
comment on function lexichord.card_term_candidates(tsvector, integer, bigint[]) is
'The documents whose cards (title twice, file name, first 1,500 characters) match terms best. Internal. Readers may call it.';
