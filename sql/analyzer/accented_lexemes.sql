-- A word with an accent is kept as it is written and without: who types none finds it, and a text that is written as the
-- question holds one lexeme more of it. Where both are one lexeme, as German's stemmer makes of Verträge, it counts once.
create or replace function lexichord.accented_lexemes(words text, text_config regconfig) returns tsvector
language plpgsql immutable strict parallel safe set search_path = pg_catalog, pg_temp set standard_conforming_strings = on as $$
declare
    exact constant tsvector := to_tsvector(text_config, words);
    accented text := lexichord.accented_words(words);
begin
    if accented is null then
        return exact;
    end if;
    return exact || ts_delete(to_tsvector(text_config, lexichord.fold_accents(accented)), tsvector_to_array(to_tsvector(text_config, accented)));
end $$;
comment on function lexichord.accented_lexemes(text, regconfig) is
'The lexemes of words in small letters, those with accents also without. Readers may call it.';
