-- Identifiers as one word, whatever joins their parts; a text search parser would part them:
--   RULE-A002 -> rulea002,   ERR_4092 -> err4092,   CVE-2024-1234 -> cve2024-1234,   77-1140-B -> 77-1140b
--   GPLv3 -> gplv3,   § 14.3 -> § 14.3,   v2.10.1 -> v2.10.1 2.10.1,   ADR 3, ADR-3 and adr3 -> adr3,   C++ -> c++
-- A word and the number after it are one identifier, unless the word is a stop word under the text configuration
-- ("in 2024"). A symbol is a word: 🚀, €, →. Not the bullets and lines from U+2500 to U+25FF, for they stand everywhere.
create or replace function lexichord.whole_words(form text, text_config regconfig) returns text[]
language plpgsql immutable strict parallel safe set search_path = pg_catalog, pg_temp set standard_conforming_strings = on as $$
declare
    symbol constant text := '[\u00A2-\u00A7\u00A9\u00AC\u00AE\u00B0\u00B1\u00B6\u00D7\u00F7\u20A0-\u20CF\u2190-\u23FF\u2600-\u2BFF'
                            '\U0001F000-\U0001F3FA\U0001F400-\U0001FAFF]';
    most_chars constant integer := 64;  -- of an identifier; what is longer is an address or an encoded file
    whole text[] := '{}';
begin
    if form ~ '[[:digit:]]' then
        -- A letter or digit on both sides of a joiner, or capitals inside: else the parser has it as one word.
        if form ~ '[[:alnum:]][-_./][[:alnum:]]|[[:lower:]][[:upper:]]|[[:upper:][:digit:]][[:upper:]][[:lower:]]' then
            whole := array(
                select lexichord.join_identifier(m[1])
                from regexp_matches(form, '([-[:alnum:]_./]*[[:digit:]][-[:alnum:]_./]*)', 'g') as m
                where char_length(m[1]) <= most_chars
                  and btrim(m[1], '-_./') ~ '[-_./]|[[:lower:]][[:upper:]]|[[:upper:][:digit:]][[:upper:]][[:lower:]]');
            whole := whole || array(select substr(w, 2) from unnest(whole) as w where w ~ '^v[[:digit:]]');
        end if;
        whole := whole || array(
            select lexichord.join_identifier(m[1])
            from regexp_matches(form, '([[:alnum:]_]+[ \n][-[:alnum:]_./]*[[:digit:]][-[:alnum:]_./]*)', 'g') as m
            where char_length(m[1]) <= most_chars and m[1] ~ '^[[:alpha:]]{2,}[ \n]'
              and to_tsvector(text_config, substring(m[1] from '^[[:alpha:]]+')) <> '');
    end if;
    whole := whole || lexichord.option_words(form);
    if strpos(form, '++') > 0 or strpos(form, '#') > 0 then
        whole := whole || array(select lower(m[1]) from regexp_matches(form, '([[:alpha:]]+(?:\+\+|#))(?![[:alnum:]+#])', 'g') as m);
    end if;
    if octet_length(form) > length(form) and form ~ symbol then
        whole := whole || array(select m[1] from regexp_matches(form, '(' || symbol || ')', 'g') as m);
    end if;
    return whole;
end $$;
comment on function lexichord.whole_words(text, regconfig) is
'What is one word to a reader and not to a parser, of a text in normal form: identifiers, whatever joins their parts, options and symbols. Readers may call it.';
