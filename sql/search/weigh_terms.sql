-- idf as BM25 has it (Robertson and Spärck Jones), over chunks; a lexeme that no chunk holds has the largest.
-- All texts under one configuration, so that equal words are equal lexemes.
-- The analyzer reads all texts as one, parted by empty lines, which it leaves: a call a text took a third of the time.
-- A row for each lexeme, not for each lexeme of each text: a third as many to look up and to send.
-- plpgsql, for its plan is kept: see keyword_weights.
-- term_change is empty at one time and large at another: a plan made for the one would read all of it, once a term.
create or replace function lexichord.weigh_terms(texts text[], sought integer default null) returns table (
    lexeme text, idf double precision, df bigint, text_numbers integer[], frequencies integer[])
language plpgsql stable rows 500
set search_path = pg_catalog, lexichord_data, pg_temp
set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off set standard_conforming_strings = on as $$
begin
    return query
    with form as materialized (
        select lexichord.question_config(array_to_string(texts, ' ')) as config,
               lexichord.fold_accents(lexichord.keyword_text(lexichord.split_runs(array_to_string(array(
                   select translate(coalesce(lexichord.normal_form(t.content), ''), E'\r\n', '  ')
                   from unnest(texts) with ordinality as t (content, number) order by t.number), E'\n\n')))) as words
    ), held as (
        select l.lexeme collate "C" as lexeme, array_agg(l.number::integer order by l.number) as numbers, array_agg(l.frequency order by l.number) as frequencies
        from (select u.lexeme, t.number, cardinality(u.positions) as frequency
              from form f, unnest(string_to_array(f.words, E'\n\n')) with ordinality as t (content, number), unnest(to_tsvector(f.config, t.content)) as u
              union all
              select o.option, t.number, 1
              from unnest(texts) with ordinality as t (content, number), unnest(lexichord.option_words(t.content)) as o (option)
              group by o.option, t.number) as l
        group by l.lexeme collate "C"
        having sought is null or min(l.number) <= sought
    )
    select h.lexeme, ln(1 + (c.chunk_count - h.df + 0.5::float8) / (h.df + 0.5::float8)), h.df, h.numbers, h.frequencies
    from corpus_statistics c, (
        select l.*, coalesce(w.df, 0) as df from held l left join term_statistics w on w.lexeme = l.lexeme) as h
    order by h.lexeme;
end $$;
comment on function lexichord.weigh_terms(text[], integer) is
'The lexemes of texts under the analyzer of their language: their inverse document frequency, in how many chunks they occur (df), the numbers of the texts that hold them, from 1, and how often each of these does; sought = only the lexemes of so many first texts, null = all. Readers may call it.';
