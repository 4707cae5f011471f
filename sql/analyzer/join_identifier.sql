-- A joiner stays between digits alone, else 21-1 and 2-11 were one; there a dot is another than the rest.
create or replace function lexichord.join_identifier(token text) returns text
language plpgsql immutable strict parallel safe set search_path = pg_catalog, pg_temp set standard_conforming_strings = on as $$
begin
    return translate(regexp_replace(lexichord.fold_case(btrim(token, '-_./')), '(?<![[:digit:]])[-_./ \n]+|[-_./ \n]+(?![[:digit:]])', '', 'g'), '_/', '--');
end $$;
comment on function lexichord.join_identifier(text) is
'An identifier as one word, whatever joins its parts: ERR_4092 and err-4092 are err4092, 77-1140-B is 77-1140b. Internal. Readers may call it.';
