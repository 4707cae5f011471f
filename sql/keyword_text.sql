-- The analyzer's first half, the same for documents and queries, on every engine.
-- Identifiers and section numbers are kept whole and also split:
--   getUserName_v2 -> get user name v2 getusernamev2,   5.2.1 -> 5.2.1 5 2 1,   1,000 -> 1000
-- All else that is neither letter nor digit becomes a space, so that the text search parser never
-- sees tags, paths or signs of its own.
create or replace function lexichord.keyword_text(input text) returns text
language sql immutable strict parallel safe set search_path = pg_catalog, pg_temp as $$
    with plain as (
        select regexp_replace(input, '(?<=[[:digit:]]),(?=[[:digit:]]{3}(?![[:digit:]]))', '', 'g') as line
    ), words as (
        select regexp_replace(regexp_replace(regexp_replace(line,
            '([[:lower:][:digit:]])([[:upper:]])|([[:upper:]])([[:upper:]][[:lower:]])', '\1\3 \2\4', 'g'),
            '(?<![[:digit:]])\.|\.(?![[:digit:]])', ' ', 'g'),
            '[^[:alnum:].]+', ' ', 'g') as line
        from plain
    ), identifiers as (
        select string_agg(' ' || replace(m[1], '_', ''), '') as line
        from plain, regexp_matches(plain.line,
            '([[:alnum:]_]*(?:[[:lower:][:digit:]][[:upper:]]|[[:upper:]]{2}[[:lower:]]|[[:alnum:]]_+[[:alnum:]])[[:alnum:]_]*)',
            'g') as m
    ), sections as (
        select string_agg(' ' || replace(m[1], '.', ' '), '') as line
        from plain, regexp_matches(plain.line, '([[:digit:]]+(?:\.[[:digit:]]+)+)', 'g') as m
    )
    select lower(words.line || coalesce(identifiers.line, '') || coalesce(sections.line, ''))
    from words, identifiers, sections
$$;
comment on function lexichord.keyword_text(text) is
'Text as the analyzer sees it: lower case, identifiers, paths and section numbers split, identifiers and section numbers also kept whole.';
