-- The analyzer: keyword_text under the text configuration that init chose.
create or replace function lexichord.lexemes(input text) returns tsvector
language plpgsql stable strict parallel safe set search_path = pg_catalog, pg_temp as $$
begin
    return to_tsvector((select c.text_config from lexichord_data.configuration c), lexichord.keyword_text(input));
end $$;
comment on function lexichord.lexemes(text) is
'The lexemes of a text, with positions, under the database''s text configuration.';
