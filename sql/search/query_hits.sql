create or replace function lexichord.query_hits(query_id bigint) returns table (
    rank integer, chunk_id bigint, current_chunk_id bigint, dataset text, uri text,
    char_start integer, char_end integer, score double precision, scores jsonb, ranks jsonb)
language sql stable rows 10 set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select h.rank, h.chunk_id, present.id, h.dataset, h.uri, h.char_start, h.char_end, h.score, h.scores, h.ranks
    from query_hit h
    left join lateral (
        select c.id
        from dataset s
        join document d on d.dataset_id = s.id and d.uri = h.uri
        join chunk c on c.document_id = d.id and c.char_start = h.char_start and c.char_end = h.char_end
        where s.name = h.dataset
        order by c.id <> h.chunk_id, c.ordinal
        limit 1
    ) as present on true
    where h.query_id = query_hits.query_id
    order by h.rank
$$;
comment on function lexichord.query_hits(bigint) is
'What a recorded query found, best first. current_chunk_id is the chunk that now stands at the same place of the same document, null if none does.';
