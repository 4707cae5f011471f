create or replace function lexichord.count_faults() returns table (kind text, amount bigint)
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select 'documents without chunks', count(*) from document d
    where d.text <> '' and not exists (select from chunk c where c.document_id = d.id)
    union all
    select 'wrong term statistics', count(*)
    from (select u.lexeme, count(*) as df from chunk c, unnest(c.lexemes) as u group by u.lexeme) as s
         full join term_statistics t on t.lexeme = s.lexeme
         left join (select k.term_id, sum(k.df) as df
                    from (select * from term_count union all select * from term_change) as k group by 1) as k on k.term_id = t.id
    where coalesce(s.df, 0) <> coalesce(t.df, 0) or coalesce(s.df, 0) <> coalesce(k.df, 0)
    union all
    select f.kind, f.amount from lexichord.index_faults() as f
    union all
    select 'wrong corpus counts', count(*)
    from corpus_statistics n, (select count(*) as chunks, coalesce(sum(token_count), 0) as tokens from chunk) as c,
         (select count(*) as documents, coalesce(sum(card_length), 0) as tokens from document) as d
    where (n.chunk_count, n.token_count, n.document_count, n.card_token_count) <> (c.chunks, c.tokens, d.documents, d.tokens)
    union all
    select 'words of a card with another length than the document''s', count(*)
    from card_term c join document d on d.id = c.document_id where c.card_length <> d.card_length
$$;
comment on function lexichord.count_faults() is 'What should never be: rows that belong to nothing, statistics that do not add up. All 0 = sound. Readers may call it.';
