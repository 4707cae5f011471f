-- What is local to a chunk. Title, key phrases and neighbours are not: a change elsewhere in the document would
-- embed every chunk anew.
create or replace function lexichord.content_hash(heading text, content text) returns text
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
    select encode(sha256(convert_to(heading || E'\n' || content, 'UTF8')), 'hex')
$$;
comment on function lexichord.content_hash(text, text) is
'What a chunk is recognised by when its document is stored again.';
