-- The words of a text in normal form, for the text search parser: all else than letters and digits becomes a space, so that
-- it never sees tags, paths or signs of its own. Identifiers and paths are split (getUserName_v2: get user name v2); an
-- acronym's plural becomes the acronym, which no stemmer would do (NDAs: nda).
-- plpgsql, because an SQL function is planned again by every statement (.29 against .05 ms a query).
create or replace function lexichord.keyword_text(input text) returns text
language plpgsql immutable strict parallel safe set search_path = pg_catalog, pg_temp set standard_conforming_strings = on as $$
begin
    -- Blanks and line ends stay as they are: replacing them, too, took half of this function's time. Marks belong to words.
    return lexichord.fold_case(regexp_replace(regexp_replace(regexp_replace(input,
        '([[:upper:]]{2})s(?![[:alnum:]_])', '\1', 'g'),
        '([[:lower:]])([[:upper:]])|([[:upper:][:digit:]])([[:upper:]][[:lower:]])', '\1\3 \2\4', 'g'),
        '[^[:alnum:]\u0300-\u036F\u0591-\u05C7\u0610-\u061A\u064B-\u065F\u0670\u06D6-\u06ED\u0900-\u0963\u0966-\u0DF3'
        '\u0E31\u0E34-\u0E3A\u0E47-\u0E4E \n]+', ' ', 'g'));
end $$;
comment on function lexichord.keyword_text(text) is
'The words of a text in normal form, in small letters, all else as blanks; identifiers, paths and acronyms'' plurals split. Readers may call it.';
