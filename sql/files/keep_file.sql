create or replace function lexichord.keep_file(
    file_id text, name text, media_type text, purpose text, content bytea, datasets text[] default null
) returns timestamptz
language sql set search_path = pg_catalog, lexichord_data, pg_temp as $$
    insert into file (id, name, media_type, purpose, content, datasets)
    values (file_id, name, media_type, purpose, content, datasets) returning created_at
$$;
comment on function lexichord.keep_file(text, text, text, text, bytea, text[]) is
'Keeps a file that belongs to no dataset yet, for whoever reaches these, by default all; returns the time.';
