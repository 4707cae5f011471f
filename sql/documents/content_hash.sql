create or replace function lexichord.content_hash(content text) returns text
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
    select encode(sha256(convert_to(content, 'UTF8')), 'hex')
$$;
comment on function lexichord.content_hash(text) is
'A digest of a text. Readers may call it.';
