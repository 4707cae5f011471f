create or replace function lexichord.shard_terms(dataset text default null) returns table (lexemes text[], dfs bigint[], cards bigint[])
language plpgsql stable rows 1 set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    own bigint := (select s.id from dataset s where s.name = shard_terms.dataset);
begin
    return query
    with held as (
        select t.lexeme, t.df from term_statistics t where dataset is null
        union all
        select t.lexeme, sum(k.df)::bigint
        from (select c.* from term_count c union all select c.* from term_change c) as k join term t on t.id = k.term_id
        where k.dataset_id = own group by t.lexeme
    ), card as (
        select k.lexeme, count(*) as cards from card_term k
        where dataset is null or exists (select from document d where d.id = k.document_id and d.dataset_id = own) group by k.lexeme
    )
    select coalesce(array_agg(t.lexeme), '{}'), coalesce(array_agg(t.df), '{}'), coalesce(array_agg(coalesce(c.cards, 0)), '{}')
    from held t left join card c on c.lexeme = t.lexeme
    where t.df > 0 or c.cards > 0;
end $$;
comment on function lexichord.shard_terms(text) is
'One row: the lexemes of this shard, or of a dataset on it, in how many chunks each is (dfs) and in how many cards. Readers may call it.';
