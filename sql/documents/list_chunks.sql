create or replace function lexichord.list_chunks(document bigint) returns table (
    chunk_id bigint, ordinal integer, heading text, char_start integer, char_end integer, page integer,
    content text, context text, keyword_context text, metadata jsonb, has_vector boolean)
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select c.id, c.ordinal, c.heading, c.char_start, c.char_end, c.page, c.content, c.context, c.keyword_context, c.metadata,
           c.embedding is not null
    from chunk c where c.document_id = document order by c.ordinal
$$;
comment on function lexichord.list_chunks(bigint) is 'A document''s chunks in their order. Readers may call it.';
