-- idf as BM25 has it (Robertson and Spärck Jones), over chunks; a lexeme that no chunk holds has the largest.
create or replace function lexichord.weigh_terms(texts text[]) returns table (
    text_number integer, lexeme text, frequency integer, idf double precision, df bigint)
language sql stable rows 1000
set search_path = lexichord_data, public, pg_catalog, pg_temp as $$
    select t.number::integer, u.lexeme, cardinality(u.positions),
           ln(1 + (c.chunk_count - coalesce(w.df, 0) + 0.5::float8) / (coalesce(w.df, 0) + 0.5::float8)),
           coalesce(w.df, 0)
    from corpus c, unnest(texts) with ordinality as t (content, number),
    lateral unnest(lexichord.lexemes(t.content)) as u
    left join term w on w.lexeme = u.lexeme collate "C"
    order by t.number, u.lexeme collate "C"
$$;
comment on function lexichord.weigh_terms(text[]) is
'The lexemes of each text under the database''s analyzer, how often the text holds them, in how many chunks they occur (df) and their inverse document frequency; text_number counts from 1.';
