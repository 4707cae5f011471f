-- A program's option is a word, in its case: -i, which without its sign is a stop word, and -I.
create or replace function lexichord.option_words(form text) returns text[]
language plpgsql immutable strict parallel safe set search_path = pg_catalog, pg_temp set standard_conforming_strings = on as $$
begin
    if form !~ '-[[:alpha:]](?![[:alnum:]_-])' then
        return '{}';
    end if;
    return array(select m[1] from regexp_matches(form, '(?<![[:alnum:]_.)/-])(-[[:alpha:]])(?![[:alnum:]_-])', 'g') as m);
end $$;
comment on function lexichord.option_words(text) is
'The options of one letter that a text in normal form names: -i, -I. Readers may call it.';
