-- The analyzer: keyword_text under a text configuration, that of a document's language or the database's.
create or replace function lexichord.lexemes(input text, text_config regconfig default null) returns tsvector
language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp as $$
begin
    return to_tsvector(coalesce(text_config, (select c.text_config from lexichord_data.configuration c)), lexichord.keyword_text(input));
end $$;
comment on function lexichord.lexemes(text, regconfig) is
'The lexemes of a text, with positions, under a text configuration; null = the database''s.';
