-- The versions up to 0.6.1 lose rows (measured); the guard falls away with a later one.
create or replace function lexichord.keyword_index_is_stale() returns boolean
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
    return exists (select from lexichord_data.unsaved_keywords u where u.epoch <> lexichord_data.server_epoch())
       and (select string_to_array(extversion, '.')::int[] <= '{0,6,1}' from pg_extension where extname = 'pg_textsearch');
end $$;
comment on function lexichord.keyword_index_is_stale() is
'Whether the keyword index may have lost rows in a restart of the server; refresh_keyword_index mends it.';
