-- What is one word to some and two to others, as one; its parts are in keyword_text. A text in normal form holds it as
--   plug-in, plug_in, plugIn -> plugin,   input/output -> inputoutput,   note3 -> note
-- A footnote's number becomes a part of its word with NFKC, and is one already in what was read from pages.
-- Matches are a query, even over nothing; a look whether there is something takes a fifth of it. One aggregate, for
-- adding match by match takes time by the square: 40 s of 100,000 identifiers, 2 s so.
create or replace function lexichord.joined_words(form text) returns text
language plpgsql immutable strict parallel safe set search_path = pg_catalog, pg_temp set standard_conforming_strings = on as $$
declare
    joined text := '';
begin
    if form !~ '[[:alpha:]][-_/][[:alpha:]]|[[:lower:]][[:upper:]]|[[:upper:]]{2}[[:lower:]]|[[:alpha:]]{4}[[:digit:]]' then
        return '';
    end if;
    if form ~ '[[:alpha:]][-_][[:alpha:]]' then
        joined := concat_ws(' ', joined, (select string_agg(translate(m[1], '-_', ''), ' ') from regexp_matches(form,
            '([-_[:alnum:]]*[[:alpha:]][-_][[:alpha:]][-_[:alnum:]]*)', 'g') as m where m[1] !~ '[[:digit:]]'));
    end if;
    if form ~ '[[:alpha:]]/[[:alpha:]]' then
        joined := concat_ws(' ', joined, (select string_agg(replace(m[1], '/', ''), ' ') from regexp_matches(form,
            '([/[:alnum:]]*[[:alpha:]]/[[:alpha:]][/[:alnum:]]*)', 'g') as m where m[1] !~ '[[:digit:]]|/.*/'));
    end if;
    if form ~ '[[:lower:]][[:upper:]]|[[:upper:]]{2}[[:lower:]]' then
        joined := concat_ws(' ', joined, (select string_agg(m[1], ' ') from regexp_matches(form,
            '([[:alnum:]]*(?:[[:lower:]][[:upper:]]|[[:upper:]]{2}[[:lower:]])[[:alnum:]]*)', 'g') as m where m[1] !~ '[[:digit:]]|^[[:upper:]]+s$'));
    end if;
    if form ~ '[[:alpha:]]{4}[[:digit:]]' then
        joined := concat_ws(' ', joined, (select string_agg(m[1], ' ') from regexp_matches(form,
            '([[:alpha:]]{4,})[[:digit:]]{1,2}(?![[:alnum:]])', 'g') as m));
    end if;
    return lexichord.fold_case(joined);
end $$;
comment on function lexichord.joined_words(text) is
'What hyphens, underscores, a slash or capitals part in a text in normal form, joined, and words without a footnote''s number. Readers may call it.';
