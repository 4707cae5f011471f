create or replace function lexichord.unsealed_keywords() returns table (index_name text, reason text)
language sql stable rows 1 set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select 'keyword', format('holds %s chunks that no segment holds yet', t.chunks)
    from lexichord.sealing() as r, corpus_statistics n, greatest(2 * r.tail_chunks, 4000) as many,
         lateral (select count(*) as chunks from (select from keyword_tail limit many + 1) as t) as t
    where n.chunk_count >= r.least_chunks and t.chunks > many
$$;
comment on function lexichord.unsealed_keywords() is
'A row if so many chunks wait for seal_keywords that searches are slowed down. Internal. Readers may call it.';
