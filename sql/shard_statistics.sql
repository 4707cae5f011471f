create or replace function lexichord.shard_statistics() returns table (
    chunk_count bigint, token_count bigint, document_count bigint, card_token_count bigint, average_length double precision,
    elsewhere_chunks bigint)
language sql stable rows 1 set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select n.chunk_count, n.token_count, n.document_count, n.card_token_count, n.average_length, e.chunk_count
    from corpus_statistics n, elsewhere e
$$;
comment on function lexichord.shard_statistics() is
'How much this shard holds, the mean length that its impacts were made by, and how many chunks it was told of elsewhere.';
