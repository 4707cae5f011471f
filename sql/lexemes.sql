-- The analyzer: keyword_text under the text configuration that init chose.
create or replace function lexichord.lexemes(input text) returns tsvector
language sql stable strict parallel safe set search_path = pg_catalog, pg_temp as $$
    select to_tsvector(c.text_config, lexichord.keyword_text(input)) from lexichord_data.configuration c
$$;
comment on function lexichord.lexemes(text) is
'The lexemes of a text, with positions, under the database''s text configuration.';
