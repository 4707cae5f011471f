create or replace function lexichord.read_chunks(document bigint) returns table (
    ordinal integer, heading text, char_start integer, char_end integer, page integer,
    content text, context text, keyword_context text, metadata jsonb, embedding @extschema:vector@.halfvec)
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select c.ordinal, c.heading, c.char_start, c.char_end, c.page, c.content, c.context, c.keyword_context, c.metadata,
           c.embedding
    from chunk c where c.document_id = document order by c.ordinal
$$;
comment on function lexichord.read_chunks(bigint) is
'A document''s chunks in their order, with their vectors, as stage_chunks'' table takes them. Readers may call it.';
