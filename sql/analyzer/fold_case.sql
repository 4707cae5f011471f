-- Full case folding where lower() falls short: ß and ẞ are ss, a final sigma is a sigma, İ is i.
create or replace function lexichord.fold_case(input text) returns text
language plpgsql immutable strict parallel safe set search_path = pg_catalog, pg_temp set standard_conforming_strings = on as $$
begin
    if octet_length(input) = length(input) then
        return lower(input);
    end if;
    return replace(translate(lower(translate(input, 'İ', 'i')), 'ς', 'σ'), 'ß', 'ss');
end $$;
comment on function lexichord.fold_case(text) is 'Text without capitals: Straße and STRASSE are strasse. Readers may call it.';
