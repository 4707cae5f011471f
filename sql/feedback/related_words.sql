-- A word is shown as the chunks write it most often; single letters and numbers say nothing about a subject.
-- term_change is empty at one time and large at another: a plan made for the one would read all of it, once a term.
create or replace function lexichord.related_words(
    question text, chunk_ids bigint[], most integer default 8
) returns table (word text, lexeme text, chunks bigint, df bigint, weight double precision)
language sql stable rows 10
set search_path = pg_catalog, lexichord_data, pg_temp
set enable_seqscan = off set jit = off as $$
    with written as materialized (
        select c.id, d.id as document_id, d.text_config, m[1] as word
        from chunk c join document d on d.id = c.document_id, regexp_matches(c.content, '(?:^|[^[:alnum:]_])([[:alpha:]]{3,})(?![[:alnum:]_])', 'g') as m
        where c.id = any(chunk_ids)
    ), analyzed as materialized (  -- each word once: that is what takes the time
        select w.*, tsvector_to_array(lexichord.word_lexemes(w.word, w.text_config)) as lexemes
        from (select distinct o.word, o.text_config from written o) as w
    ), held as (
        select mode() within group (order by lower(w.word)) as word, a.lexemes[1] as lexeme, count(distinct w.id) as chunks
        from written w join analyzed a on a.word = w.word and a.text_config is not distinct from w.text_config
        where cardinality(a.lexemes) = 1
        group by a.lexemes[1] having count(distinct w.id) > 1
    )
    select h.word, h.lexeme, h.chunks, t.df,
           h.chunks * ln(1 + (n.chunk_count - t.df + 0.5::float8) / (t.df + 0.5::float8))
    from held h join term_statistics t on t.lexeme = h.lexeme collate "C", corpus_statistics n
    where h.lexeme <> all ((select tsvector_to_array(lexichord.query_words(question, array(select distinct w.document_id from written w))))::text[])
    order by 5 desc, 2
    limit most
$$;
comment on function lexichord.related_words(text, bigint[], integer) is
'Words that at least two of the given chunks share and the question lacks, the most telling first: weight = chunks that hold it x idf. Readers may call it.';
