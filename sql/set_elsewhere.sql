create or replace function lexichord.set_elsewhere(
    chunk_count bigint, token_count bigint, document_count bigint, card_token_count bigint, lexemes text[], dfs bigint[], cards bigint[]
) returns void
language sql set search_path = pg_catalog, lexichord_data, pg_temp as $$
    update elsewhere set chunk_count = set_elsewhere.chunk_count, token_count = set_elsewhere.token_count,
                         document_count = set_elsewhere.document_count, card_token_count = set_elsewhere.card_token_count;
    delete from term_elsewhere;
    insert into term_elsewhere
    select w.lexeme, sum(w.df), sum(w.card) from unnest(lexemes, dfs, cards) as w (lexeme, df, card) group by w.lexeme;
$$;
comment on function lexichord.set_elsewhere(bigint, bigint, bigint, bigint, text[], bigint[], bigint[]) is
'Tells this shard what all others hold together; searches that run go by what it was told before.';
