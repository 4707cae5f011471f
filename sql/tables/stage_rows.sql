create or replace function lexichord.stage_rows() returns void
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
begin
    create temporary table if not exists staged_row (key text primary key, sha256 text, language text, text_config text) on commit delete rows;
    create temporary table if not exists staged_row_chunk (
        key text, ordinal integer, heading text, char_start integer, char_end integer, content text, context text,
        keyword_context text, is_kept boolean, embedding @extschema:vector@.halfvec
    ) on commit delete rows;
    delete from staged_row;
    delete from staged_row_chunk;
end $$;
comment on function lexichord.stage_rows() is
'Makes the session''s temporary tables staged_row and staged_row_chunk empty, which COPY fills and store_rows reads.';
