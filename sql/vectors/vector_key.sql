-- Not of its title, headings, key phrases and neighbours: a change elsewhere in the document would embed it anew.
-- But of what a language model wrote: that comes with the chunk, or fails to, one time and not the next.
create or replace function lexichord.vector_key(content text, context text, metadata jsonb) returns text
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
    select lexichord.content_hash(content)
        || case when metadata ? 'context_by' then lexichord.content_hash(context) else '' end
$$;
comment on function lexichord.vector_key(text, text, jsonb) is
'What a chunk is recognised by when its document is stored again, to keep its vector: its content, and a context by a language model. Readers may call it.';
