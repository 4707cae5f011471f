-- The analyzer, the same for documents and queries, on every engine.
create or replace function lexichord.lexemes(input text, text_config regconfig default null) returns tsvector
language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp as $$
declare
    config regconfig := text_config;
    form text := lexichord.normal_form(input);
    exact text[];
begin
    if config is null then
        select c.text_config into config from lexichord_data.configuration c;
    end if;
    if octet_length(form) > length(form) then
        form := lexichord.split_runs(form);
    end if;
    exact := lexichord.whole_words(form, config);
    if config = 'pg_catalog.english'::regconfig then
        exact := exact || lexichord.particle_phrases(form);
    end if;
    return lexichord.accented_lexemes(concat_ws(' ', lexichord.keyword_text(form), lexichord.joined_words(form)), config)
        || lexichord.exact_lexemes(exact);
end $$;
comment on function lexichord.lexemes(text, regconfig) is
'The lexemes of a text, with positions, under a text configuration; null = the database''s. Readers may call it.';
