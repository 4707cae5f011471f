-- Past the text search parser. Each counts once, however often a text has it: to number them took a third of all the rest.
create or replace function lexichord.exact_lexemes(words text[], positions text default '1') returns tsvector
language plpgsql immutable strict parallel safe set search_path = pg_catalog, pg_temp set standard_conforming_strings = on as $$
begin
    if words = '{}' then
        return '';
    end if;
    return ('''' || array_to_string(words, ''':' || positions || ' ''') || ''':' || positions)::tsvector;
end $$;
comment on function lexichord.exact_lexemes(text[], text) is
'Words as lexemes, as they are, each in the given positions; they hold neither quotes nor backslashes. Internal. Readers may call it.';
