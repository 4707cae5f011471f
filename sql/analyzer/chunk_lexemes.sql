-- Each text for itself: a word that ends one and a number that begins the next are no identifier.
create or replace function lexichord.chunk_lexemes(context text, keyword_context text, content text, text_config regconfig) returns tsvector
language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp set standard_conforming_strings = on as $$
begin
    return lexichord.lexemes(concat_ws(E'\n\n', context, keyword_context, content), text_config);
end $$;
comment on function lexichord.chunk_lexemes(text, text, text, regconfig) is
'The lexemes by which a chunk is found: of its contexts and its own text. Internal.';
