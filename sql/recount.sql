-- The triggers keep the statistics true; TRUNCATE and hand-written changes of chunk.lexemes go past them.
create or replace function lexichord.recount() returns void
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
begin
    perform from corpus for no key update;
    lock table chunk in share mode;
    with counted as (
        select u.lexeme, count(*) as df from chunk c, unnest(c.lexemes) as u group by u.lexeme
    ), known as (
        update term t set df = coalesce(c.df, 0)
        from term old left join counted c on c.lexeme = old.lexeme
        where t.id = old.id
        returning t.lexeme
    )
    insert into term (lexeme, df)
    select c.lexeme, c.df from counted c
    where not exists (select from known k where k.lexeme = c.lexeme)
    order by c.lexeme;
    update corpus
    set (chunk_count, token_count) = (select count(*), coalesce(sum(c.token_count), 0) from chunk c),
        (document_count, card_token_count) = (select count(*), coalesce(sum(d.card_length), 0) from document d);
    perform lexichord_data.add_missing_keywords();
end $$;
comment on function lexichord.recount() is
'Counts terms, chunks and documents anew; writing waits meanwhile.';
