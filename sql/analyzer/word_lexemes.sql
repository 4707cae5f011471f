-- By which texts are compared: what a reader counts as its words, each once, whichever way it is written.
create or replace function lexichord.word_lexemes(input text, text_config regconfig default null) returns tsvector
language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp set standard_conforming_strings = on as $$
begin
    return to_tsvector(coalesce(text_config, (select c.text_config from lexichord_data.configuration c)),
        lexichord.fold_accents(lexichord.keyword_text(lexichord.split_runs(lexichord.normal_form(input)))));
end $$;
comment on function lexichord.word_lexemes(text, regconfig) is
'The lexemes of a text''s words without accents, none of them joined or whole, under a text configuration, null = the database''s: what texts are compared by. Readers may call it.';
