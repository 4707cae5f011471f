-- idf as BM25 has it (Robertson and Spärck Jones), over chunks; a lexeme that no chunk holds has the largest.
-- All texts under one configuration, so that equal words are equal lexemes.
-- A row for each lexeme, not for each lexeme of each text: a third as many to look up and to send.
-- plpgsql, for its plan is kept: see keyword_weights.
-- term_change is empty at one time and large at another: a plan made for the one would read all of it, once a term.
create or replace function lexichord.weigh_terms(texts text[]) returns table (
    lexeme text, idf double precision, df bigint, text_numbers integer[], frequencies integer[])
language plpgsql stable rows 500
set search_path = pg_catalog, lexichord_data, pg_temp
set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off as $$
begin
    return query
    with own as materialized (
        select lexichord.question_config(array_to_string(texts, ' ')) as config
    ), held as (
        select u.lexeme collate "C" as lexeme,
               array_agg(t.number::integer) as numbers, array_agg(cardinality(u.positions)) as frequencies
        from own, unnest(texts) with ordinality as t (content, number), 
             lateral unnest(lexichord.word_lexemes(t.content, own.config) || lexichord.exact_lexemes(lexichord.option_words(t.content))) as u
        group by u.lexeme collate "C"
    )
    select h.lexeme, ln(1 + (c.chunk_count - h.df + 0.5::float8) / (h.df + 0.5::float8)), h.df, h.numbers, h.frequencies
    from global_statistics c, (
        select l.*, coalesce(w.df, 0) + coalesce((select e.df from own_term_elsewhere e where e.lexeme = l.lexeme), 0) as df
        from held l left join term_statistics w on w.lexeme = l.lexeme) as h
    order by h.lexeme;
end $$;
comment on function lexichord.weigh_terms(text[]) is
'The lexemes of texts under the analyzer of their language: their inverse document frequency, in how many chunks they occur (df), the numbers of the texts that hold them, from 1, and how often each of these does. Readers may call it.';
