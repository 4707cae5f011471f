-- COPY fills the first table of the session, analyze_staged the second one, store_document empties both into chunk.
create or replace function lexichord.stage_chunks() returns void
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
begin
    create temporary table if not exists staged_chunk (
        ordinal integer, heading text, char_start integer, char_end integer, page integer,
        content text, context text, keyword_context text, metadata jsonb, embedding @extschema:vector@.halfvec
    ) on commit delete rows;
    create temporary table if not exists staged_lexemes (
        ordinal integer, text_config regconfig, analyzer_version integer, lexemes tsvector
    ) on commit delete rows;
end $$;
comment on function lexichord.stage_chunks() is
'Makes the session''s temporary table staged_chunk, which COPY fills and store_document reads, and staged_lexemes, for analyze_staged.';
