create or replace function lexichord.accented_words(words text) returns text
language plpgsql immutable strict parallel safe set search_path = pg_catalog, pg_temp set standard_conforming_strings = on as $$
declare
    -- Small letters of Latin, Greek and Cyrillic that fold_accents changes, and marks that nothing composes with.
    accent constant text := '[\u00E0-\u00F6\u00F8-\u00FF\u0101-\u024F\u0300-\u036F\u0390\u03AC-\u03B0\u03CA-\u03CE\u0439\u0450-\u045F\u1E00-\u1FFF]';
begin
    if octet_length(words) = length(words) or words !~ accent then
        return null;
    end if;
    return (select string_agg(m[1], ' ')
            from regexp_matches(words, '([[:alnum:]\u0300-\u036F]*' || accent || '[[:alnum:]\u0300-\u036F]*)', 'g') as m);
end $$;
comment on function lexichord.accented_words(text) is 'Those of words in small letters that have an accent, in their order; null = none. Internal. Readers may call it.';
