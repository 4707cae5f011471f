-- A word is shown as the chunks write it most often; single letters and numbers say nothing about a subject.
create or replace function lexichord.related_words(
    question text, chunk_ids bigint[], most integer default 8
) returns table (word text, lexeme text, chunks bigint, df bigint, weight double precision)
language sql stable rows 10
set search_path = lexichord_data, public, pg_catalog, pg_temp as $$
    with written as (
        select c.id, m[1] as word, tsvector_to_array(lexichord.lexemes(m[1])) as lexemes
        from chunk c, regexp_matches(c.content, '(?:^|[^[:alnum:]_])([[:alpha:]]{3,})(?![[:alnum:]_])', 'g') as m
        where c.id = any(chunk_ids)
    ), counted as (
        select w.lexemes[1] as lexeme, lower(w.word) as word, count(*) as times from written w
        where cardinality(w.lexemes) = 1 group by 1, 2
    ), held as (
        select w.lexemes[1] as lexeme, count(distinct w.id) as chunks from written w
        where cardinality(w.lexemes) = 1 group by 1
    )
    select (select c.word from counted c where c.lexeme = h.lexeme order by c.times desc, c.word limit 1), h.lexeme, h.chunks, t.df,
           h.chunks * ln(1 + (n.chunk_count - t.df + 0.5::float8) / (t.df + 0.5::float8))
    from held h join term t on t.lexeme = h.lexeme collate "C", corpus n
    where h.chunks > 1 and not h.lexeme = any(tsvector_to_array(lexichord.lexemes(question)))
    order by 5 desc, 2
    limit most
$$;
comment on function lexichord.related_words(text, bigint[], integer) is
'Words that at least two of the given chunks share and the question lacks, the most telling first: weight = chunks that hold it x idf.';
