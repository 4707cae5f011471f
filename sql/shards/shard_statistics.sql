create or replace function lexichord.shard_statistics(dataset text default null) returns table (
    chunk_count bigint, token_count bigint, document_count bigint, card_token_count bigint, average_length double precision,
    elsewhere_chunks bigint)
language sql stable rows 1 set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select n.chunk_count, n.token_count, n.document_count, n.card_token_count, n.average_length, e.chunk_count
    from corpus_statistics n, elsewhere e where dataset is null
    union all
    select coalesce(sum(c.chunk_count), 0), coalesce(sum(c.token_count), 0), coalesce(sum(c.document_count), 0), coalesce(sum(c.card_token_count), 0),
           (select n.average_length from corpus n),
           coalesce((select sum(e.chunk_count) from elsewhere_dataset e join dataset s on s.id = e.dataset_id
                     where s.name = shard_statistics.dataset), 0)
    from (select k.* from dataset_count k union all select k.* from dataset_change k) as c
    join dataset s on s.id = c.dataset_id and s.name = shard_statistics.dataset
    having dataset is not null
$$;
comment on function lexichord.shard_statistics(text) is
'How much this shard holds, of all or of a dataset, the mean length that its impacts were made by, and how many chunks it was told of elsewhere. Readers may call it.';
