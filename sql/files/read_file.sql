create or replace function lexichord.read_file(file_id text) returns bytea
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select f.content from file f where f.id = file_id
$$;
comment on function lexichord.read_file(text) is 'The bytes of a file that keep_file keeps, null where there is none. Readers may call it.';
