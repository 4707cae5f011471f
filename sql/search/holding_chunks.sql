create or replace function lexichord.holding_chunks(lexeme text, depth integer, documents bigint[] default null) returns bigint
language plpgsql stable set search_path = pg_catalog, lexichord_data, pg_temp set standard_conforming_strings = on as $$
begin
    return (select count(*) from lexichord.term_candidates(lexichord.exact_lexemes(array[lexeme]), depth, documents));
end $$;
comment on function lexichord.holding_chunks(text, integer, bigint[]) is
'How many chunks in scope hold a lexeme, up to the depth. Internal. Readers may call it.';
