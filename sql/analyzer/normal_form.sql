-- The analyzer's first step, the same for documents and queries: what reads alike is one text.
--   1. NFKC: ﬁ -> fi, ＡＢＣ１ -> ABC1, ｶﾅ -> カナ, CO₂ -> CO2, ½ -> 1/2, and one way to write an accent
--   2. what is not shown is gone (default-ignorable: soft hyphens, zero-width spaces and joiners, variation selectors)
--   3. one hyphen, one apostrophe; no comma in thousands; a word that a line's end parts has a hyphen and no line's end
-- Capitals stay: identifiers are parted by them. What is removed can bring together what NFKC composes: it comes twice.
create or replace function lexichord.normal_form(input text) returns text
language plpgsql immutable strict parallel safe set search_path = pg_catalog, pg_temp set standard_conforming_strings = on as $$
declare
    ignorable constant text :=
        '[\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F\u202A-\u202E\u2060-\u206F\u3164\uFE00-\uFE0F'
        '\uFEFF\uFFA0\uFFF0-\uFFF8\U0001BCA0-\U0001BCA3\U0001D173-\U0001D17A\U000E0000-\U000E0FFF]';
    -- What is not among these may be changed by NFKC, or be ignorable: to look through a text for that takes longer.
    changeable constant text := '[^\u0001-\u009F\u00A1-\u00A7\u00A9\u00AB\u00AC\u00AE\u00B0\u00B1\u00B6\u00B7\u00BB\u00BF-\u0131'
                                '\u2010\u2012-\u2015\u2018-\u201F\u2022\u20AC]';
    form text := input;
begin
    if octet_length(form) > length(form) then
        if form ~ changeable then
            form := regexp_replace(normalize(lexichord.bound_marks(form), nfkc), ignorable, '', 'g');
            form := normalize(lexichord.bound_marks(form), nfkc);
        end if;
        form := regexp_replace(regexp_replace(regexp_replace(form,
            '[\u2010-\u2013\u2212]', '-', 'g'), '[\u2018\u2019\u201B\u02BC]', '''', 'g'), '\u2044', '/', 'g');
    end if;
    if strpos(form, ',') > 0 then
        form := regexp_replace(form, '(?<=[[:digit:]]),(?=[[:digit:]]{3}(?![[:digit:]]))', '', 'g');
    end if;
    if strpos(form, '-') > 0 and form ~ '-[ \t]*\r?\n' then
        form := regexp_replace(form, '([[:alpha:]])-[ \t]*\r?\n[ \t]*(?=[[:lower:]])', '\1-', 'g');
    end if;
    return form;
end $$;
comment on function lexichord.normal_form(text) is
'Text in one form, however it was typed: NFKC, nothing that is not shown, one hyphen and apostrophe, words that a line''s end parts in one piece. Readers may call it.';
