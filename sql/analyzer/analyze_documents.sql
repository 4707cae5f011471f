-- In batches, each a transaction of its own, so that no writer waits long and an interruption loses one batch. What an
-- ingest holds is passed over, for the ingest analyzes it anew itself. The triggers of chunk keep the keyword index, not
-- the statistics, which no other change of lexemes touches.
create or replace function lexichord.analyze_documents(most integer default 100) returns bigint
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    taken bigint[];
    chunk_ids bigint[];
    fresh tsvector[];
begin
    perform lexichord.check_count('most', most);
    perform lexichord_data.join_writers();
    taken := array(
        select d.id from document d where d.analyzer_version < lexichord.analyzer_version()
        order by d.id limit most for no key update skip locked);
    select array_agg(c.id), array_agg(l) into chunk_ids, fresh
    from document d join chunk c on c.document_id = d.id,
         lexichord.chunk_lexemes(c.context, c.keyword_context, c.content, d.text_config) as l
    where d.id = any(taken) and c.lexemes <> l;
    perform lexichord_data.add_terms(array(select distinct l.lexeme from unnest(fresh) as f, unnest(f) as l));
    insert into term_change (term_id, dataset_id, df)
    select t.id, h.dataset_id, sum(h.df)
    from (select c.dataset_id, s.lexeme, s.df
          from unnest(chunk_ids, fresh) as n (id, lexemes) join chunk c on c.id = n.id,
               lateral (select u.lexeme, -1 from unnest(c.lexemes) as u
                        union all select u.lexeme, 1 from unnest(n.lexemes) as u) as s (lexeme, df)) as h
    join term t on t.lexeme = h.lexeme collate "C"
    group by t.id, h.dataset_id having sum(h.df) <> 0;
    insert into dataset_change (dataset_id, chunk_count, token_count, document_count, card_token_count)
    select c.dataset_id, 0, sum(lexichord.lexeme_count(n.lexemes) - c.token_count), 0, 0
    from unnest(chunk_ids, fresh) as n (id, lexemes) join chunk c on c.id = n.id group by c.dataset_id;
    update chunk c set lexemes = n.lexemes, token_count = lexichord.lexeme_count(n.lexemes)
    from unnest(chunk_ids, fresh) as n (id, lexemes) where c.id = n.id;

    delete from card_term c where c.document_id = any(taken);
    with card as (
        select d.id, l as lexemes, lexichord.lexeme_count(l) as length
        from document d, lexichord.document_card(d.title, d.uri, d.text, d.text_config) as l where d.id = any(taken)
    ), kept as (
        insert into card_term (lexeme, document_id, tf, card_length)
        select u.lexeme, c.id, cardinality(u.positions), c.length from card c, unnest(c.lexemes) as u
    )
    update document d set card_length = c.length, analyzer_version = lexichord.analyzer_version()
    from card c where c.id = d.id;
    perform lexichord.fold_statistics(from_changes => 32);
    return cardinality(taken);
end $$;
comment on function lexichord.analyze_documents(integer) is
'Makes the lexemes of up to `most` documents anew that an earlier version made, from what is stored; returns how many it took. Nothing is embedded again.';
