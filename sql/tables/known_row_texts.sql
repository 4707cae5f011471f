create or replace function lexichord.known_row_texts(table_id integer, keys text[], sha256s text[]) returns setof text
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select k.text_hash from lexichord.kept_row_vectors(table_id, keys, sha256s) as k
$$;
comment on function lexichord.known_row_texts(integer, text[], text[]) is
'What need not be embedded again of the rows of an indexed table, by a hash of what is embedded.';
