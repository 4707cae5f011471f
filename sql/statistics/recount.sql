-- The triggers keep the statistics true; TRUNCATE and hand-written changes of chunk.lexemes go past them.
create or replace function lexichord.recount() returns void
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
begin
    perform lexichord.hold_writers();
    lock table chunk in share mode;
    perform from corpus for no key update;  -- first, as fold_statistics: else there are deadlocks
    delete from dataset_change;
    delete from term_change;
    delete from dataset_count;
    delete from term_count;
    perform lexichord_data.add_terms(array(select distinct u.lexeme from chunk c, unnest(c.lexemes) as u));
    insert into dataset_change
    select c.dataset_id, count(*), sum(c.token_count), 0, 0 from chunk c group by 1
    union all
    select d.dataset_id, 0, 0, count(*), sum(d.card_length) from document d group by 1;
    insert into term_change (term_id, dataset_id, df)
    select t.id, h.dataset_id, h.df
    from (select c.dataset_id, u.lexeme, count(*) as df from chunk c, unnest(c.lexemes) as u group by 1, 2) as h
    join term t on t.lexeme = h.lexeme collate "C";
    update term set df = 0 where df <> 0;
    update corpus set (chunk_count, token_count, document_count, card_token_count) = (select 0, 0, 0, 0);
    perform lexichord.fold_statistics();
    perform lexichord_data.add_missing_keywords();
    perform lexichord_data.add_missing_vectors();
end $$;
comment on function lexichord.recount() is
'Counts terms, chunks and documents anew; writing waits meanwhile.';
