-- Not of its title, headings, key phrases and neighbours: a change elsewhere in the document would embed it anew.
create or replace function lexichord.content_hash(content text) returns text
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
    select encode(sha256(convert_to(content, 'UTF8')), 'hex')
$$;
comment on function lexichord.content_hash(text) is
'What a chunk is recognised by when its document is stored again.';
