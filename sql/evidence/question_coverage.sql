-- The contents count, not their contexts: a title above a passage says nothing about what the passage holds.
create or replace function lexichord.question_coverage(
    question text, chunk_ids bigint[]
) returns table (lexeme text, words text[], times integer, df bigint, idf double precision, chunks bigint[])
language sql stable rows 10
set search_path = pg_catalog, lexichord_data, pg_temp as $$
    with own as materialized (
        select lexichord.question_config(question) as config
    ), word as materialized (  -- else each is read anew for each lexeme: 400 words took 13 s
        select w.word, tsvector_to_array(lexichord.word_lexemes(w.word, own.config)) as lexemes
        from own, (select distinct m[1] as word from regexp_matches(question, '[[:alnum:]_.]*[[:alnum:]]', 'g') as m) as w
    ), passage as materialized (
        select c.id, tsvector_to_array(lexichord.word_lexemes(c.content, own.config)) as lexemes from own, chunk c where c.id = any(chunk_ids)
    )
    select q.lexeme,
           array(select w.word from word w where q.lexeme = any(w.lexemes) order by w.word collate "C"),
           q.frequencies[1], q.df, q.idf,
           array(select p.id from passage p where q.lexeme = any(p.lexemes) order by p.id)
    from lexichord.weigh_terms(array[question]) as q
    order by q.lexeme collate "C"
$$;
comment on function lexichord.question_coverage(text, bigint[]) is
'The lexemes of a question: the words they come from, how often the question holds them, in how many chunks they occur (df), their idf, and which of the given chunks hold them in their content. Readers may call it.';
