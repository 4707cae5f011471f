create or replace function lexichord.set_elsewhere(
    chunk_count bigint, token_count bigint, document_count bigint, card_token_count bigint, lexemes text[], dfs bigint[], cards bigint[],
    dataset text default null
) returns void
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    own bigint := (select s.id from dataset s where s.name = set_elsewhere.dataset);
begin
    if dataset is null then
        update elsewhere e set chunk_count = set_elsewhere.chunk_count, token_count = set_elsewhere.token_count,
                               document_count = set_elsewhere.document_count, card_token_count = set_elsewhere.card_token_count;
        delete from term_elsewhere;
        insert into term_elsewhere
        select w.lexeme, sum(w.df), sum(w.card) from unnest(lexemes, dfs, cards) as w (lexeme, df, card) group by w.lexeme;
    elsif own is not null then
        delete from elsewhere_dataset d where d.dataset_id = own;
        insert into elsewhere_dataset values (own, chunk_count, token_count, document_count, card_token_count);
        delete from term_elsewhere_dataset d where d.dataset_id = own;
        insert into term_elsewhere_dataset
        select own, w.lexeme, sum(w.df), sum(w.card) from unnest(lexemes, dfs, cards) as w (lexeme, df, card) group by w.lexeme;
    end if;
end $$;
comment on function lexichord.set_elsewhere(bigint, bigint, bigint, bigint, text[], bigint[], bigint[], text) is
'Tells this shard what all others hold together, or hold of a dataset; searches that run go by what it was told before.';
