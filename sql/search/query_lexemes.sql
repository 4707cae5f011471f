-- Whole words count twice, for one of their parts may be as rare.
create or replace function lexichord.query_lexemes(query text, documents bigint[] default null) returns tsvector
language plpgsql stable parallel safe set search_path = pg_catalog, lexichord_data, pg_temp set standard_conforming_strings = on as $$
declare
    own constant regconfig := lexichord.question_config(query, documents);
    form constant text := lexichord.split_runs(lexichord.normal_form(query));
begin
    return lexichord.query_words(query, documents, own) || lexichord.exact_lexemes(lexichord.whole_words(form, own), '1,2')
        || lexichord.compound_lexemes(lexichord.keyword_text(form), own, documents);
end $$;
comment on function lexichord.query_lexemes(text, bigint[]) is
'What a query asks for: the lexemes of its words, of its identifiers and symbols, and of its words in one or in two, as documents have them. Readers may call it.';
