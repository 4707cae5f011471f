create or replace function lexichord.shard_terms() returns table (lexemes text[], dfs bigint[], cards bigint[])
language sql stable rows 1 set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select coalesce(array_agg(t.lexeme), '{}'), coalesce(array_agg(t.df), '{}'), coalesce(array_agg(coalesce(c.cards, 0)), '{}')
    from term_statistics t left join (select k.lexeme, count(*) as cards from card_term k group by 1) as c on c.lexeme = t.lexeme
    where t.df > 0 or c.cards > 0
$$;
comment on function lexichord.shard_terms() is
'One row: the lexemes of this shard, in how many chunks each is (dfs) and in how many cards.';
