-- The analyzer's first half, the same for documents and queries, on every engine.
-- Identifiers and section numbers are kept whole and also split:
--   getUserName_v2 -> get user name v2 getusernamev2,   5.2.1 -> 5.2.1 5 2 1,   1,000 -> 1000
-- Of scripts without blanks (Han, kana, hangul, Thai) a run becomes its overlapping pairs of characters, one alone stays:
--   保密协议 -> 保密 密协 协议
-- XQuAD zh, by words alone, nDCG@10: pairs 96.6, runs as they are 12.4.
-- An acronym's plural becomes the acronym, which no stemmer would do: NDAs -> nda.
-- All else that is neither letter nor digit becomes a space, so that the text search parser never
-- sees tags, paths or signs of its own.
-- plpgsql, because an SQL function is planned again by every statement (.29 against .05 ms a query).
create or replace function lexichord.keyword_text(input text) returns text
language plpgsql immutable strict parallel safe set search_path = pg_catalog, pg_temp set standard_conforming_strings = on as $$
declare
    soft_hyphen constant text := chr(173);  -- says where a line may part a word, and is not shown
    plain text := regexp_replace(regexp_replace(translate(input, soft_hyphen, ''),
            '(?<=[[:digit:]]),(?=[[:digit:]]{3}(?![[:digit:]]))', '', 'g'),
            '([[:upper:]]{2})s(?![[:alnum:]_])', '\1', 'g');
    -- A Thai vowel above or below and a tone mark belong to the letter before them.
    letter constant text :=
        '[\u3005\u3007\u3041-\u3096\u309D-\u309F\u30A1-\u30FA\u30FC-\u30FF\u3105-\u312F\u31F0-\u31FF\u3400-\u4DBF\u4E00-\u9FFF'
        '\uAC00-\uD7A3\uF900-\uFAFF\uFF66-\uFF9F\U00020000-\U0003FFFF\u0E01-\u0E30\u0E32\u0E33\u0E40-\u0E46]'
        '[\u0E31\u0E34-\u0E3A\u0E47-\u0E4E]*';
    words text;
begin
    -- Each letter is doubled with a blank between, which leaves the pairs, and the ends go: of abc's "a ab bc c" "ab bc".
    if octet_length(plain) > length(plain) and plain ~ letter then
        plain := regexp_replace(translate(plain, E'\x01\x02', '  '), '((?:' || letter || ')+)', E'\x01\\1\x02', 'g');
        plain := regexp_replace(plain, '(' || letter || ')', '\1 \1', 'g');
        plain := regexp_replace(plain, format(E'\x01(%1$s) %1$s\x02|\x01%1$s | %1$s\x02', letter), ' \1 ', 'g');
    end if;
    -- Blanks and line ends stay as they are: replacing them, too, took half of this function's time.
    words := regexp_replace(regexp_replace(plain,
            '([[:lower:][:digit:]])([[:upper:]])|([[:upper:]])([[:upper:]][[:lower:]])', '\1\3 \2\4', 'g'),
            '(?<![[:digit:]])\.|\.(?![[:digit:]])|[^[:alnum:]\u0E31\u0E34-\u0E3A\u0E47-\u0E4E. \n]+', ' ', 'g');
    -- Matches are a query, even over nothing; a look whether there is something takes a fifth of it. One aggregate, for
    -- adding match by match takes time by the square: 40 s of 100,000 identifiers, 2 s so.
    if plain ~ '[[:lower:][:digit:]][[:upper:]]|[[:upper:]]{2}[[:lower:]]|[[:alnum:]]_+[[:alnum:]]' then
        words := concat(words, ' ', (select string_agg(replace(m[1], '_', ''), ' ') from regexp_matches(plain,
            '([[:alnum:]_]*(?:[[:lower:][:digit:]][[:upper:]]|[[:upper:]]{2}[[:lower:]]|[[:alnum:]]_+[[:alnum:]])[[:alnum:]_]*)',
            'g') as m));
    end if;
    if plain ~ '[[:digit:]]\.[[:digit:]]' then
        words := concat(words, ' ', (select string_agg(replace(m[1], '.', ' '), ' ')
            from regexp_matches(plain, '([[:digit:]]+(?:\.[[:digit:]]+)+)', 'g') as m));
    end if;
    return lower(words);
end $$;
comment on function lexichord.keyword_text(text) is
'Text as the analyzer sees it: lower case, identifiers, paths and section numbers split, identifiers and section numbers also kept whole, runs of Chinese, Japanese, Korean and Thai characters as their overlapping pairs.';
