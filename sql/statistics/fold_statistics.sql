-- One process folds at a time, which has the corpus' row; others leave it to that one, so nobody waits for a row: also not who
-- seals for another that changes the mean length, and then waits for what is sealed. A transaction that keeps one snapshot could
-- not change rows that another has changed since.
create or replace function lexichord.fold_statistics(from_changes bigint default 0) returns boolean
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
begin
    if (select count(*) from (select from dataset_change limit from_changes) as c) < from_changes
       or current_setting('transaction_isolation') <> 'read committed' then
        return false;
    end if;
    perform from corpus for no key update skip locked;
    if not found then
        return false;
    end if;
    with taken as (
        delete from dataset_change returning *
    ), change as (
        select t.dataset_id, sum(t.chunk_count) as chunks, sum(t.token_count) as tokens, sum(t.document_count) as documents,
               sum(t.card_token_count) as card_tokens
        from taken t group by t.dataset_id
    ), folded as (
        insert into dataset_count as d select c.* from change c
        on conflict (dataset_id) do update
        set chunk_count = d.chunk_count + excluded.chunk_count, token_count = d.token_count + excluded.token_count,
            document_count = d.document_count + excluded.document_count,
            card_token_count = d.card_token_count + excluded.card_token_count
    )
    update corpus n
    set chunk_count = n.chunk_count + c.chunks, token_count = n.token_count + c.tokens,
        document_count = n.document_count + c.documents, card_token_count = n.card_token_count + c.card_tokens
    from (select sum(c.chunks) as chunks, sum(c.tokens) as tokens, sum(c.documents) as documents,
                 sum(c.card_tokens) as card_tokens from change c) as c
    where c.chunks is not null;

    with taken as (
        delete from term_change returning *
    ), change as (
        select t.term_id, t.dataset_id, sum(t.df) as df from taken t group by 1, 2 having sum(t.df) <> 0
    ), folded as (
        insert into term_count as k select c.* from change c
        on conflict (term_id, dataset_id) do update set df = k.df + excluded.df
    )
    update term t set df = t.df + c.df
    from (select c.term_id, sum(c.df) as df from change c group by 1 having sum(c.df) <> 0) as c
    where t.id = c.term_id;
    return true;
end $$;
comment on function lexichord.fold_statistics(bigint) is
'Adds what writers have changed to the statistics, if there are at least so many changes; returns whether it did. Searches count both at any time.';
