-- Past the text search parser. Each counts once, however often a text has it: to number them took a third of all the rest.
create or replace function lexichord.exact_lexemes(words text[], positions text default '1') returns tsvector
language plpgsql immutable strict parallel safe set search_path = pg_catalog, pg_temp set standard_conforming_strings = on as $$
declare
    joined text := btrim(array_to_string(words, E'\n'), E'\n');  -- no word of a text holds a line's end
begin
    if joined = '' then
        return '';
    end if;
    if strpos(joined, E'\n\n') > 0 then
        joined := regexp_replace(joined, '\n+', E'\n', 'g');
    end if;
    if positions !~ '^[1-9][[:digit:]]{0,3}(,[1-9][[:digit:]]{0,3})*$' then
        raise invalid_parameter_value using message = 'positions must be numbers from 1 to 9999 with commas between them';
    end if;
    return ('''' || replace(replace(replace(joined, '\', '\\'), '''', ''''''), E'\n', ''':' || positions || ' ''') || ''':' || positions)::tsvector;
end $$;
comment on function lexichord.exact_lexemes(text[], text) is
'Words as lexemes, as they are, each in the given positions. Internal. Readers may call it.';
