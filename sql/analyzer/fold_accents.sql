-- What a keyboard without accents writes instead. Of other scripts the marks stay: there they are letters.
create or replace function lexichord.fold_accents(input text) returns text
language plpgsql immutable strict parallel safe set search_path = pg_catalog, pg_temp set standard_conforming_strings = on as $$
begin
    if octet_length(input) = length(input) then
        return input;
    end if;
    return replace(replace(replace(translate(
        normalize(regexp_replace(normalize(lexichord.bound_marks(input), nfd), '[\u0300-\u036F]+', '', 'g'), nfc), 'øłđıħŧð', 'oldihtd'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th');
end $$;
comment on function lexichord.fold_accents(text) is 'Small letters without their accents: naïve is naive, smørrebrød is smorrebrod. Readers may call it.';
