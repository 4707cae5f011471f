-- Of marks above one letter the first thirty, as many as the Stream-Safe Text Format has (UAX 15): what puts more in their order
-- takes time by the square, and listens to no cancel, no time-out and no end of its session. 80,000 took 41 s. A mark is what
-- has a combining class other than 0 in Unicode 15; between two of them what is not assigned, or a mark of class 0, counts too.
create or replace function lexichord.bound_marks(input text) returns text
language plpgsql immutable strict parallel safe set search_path = pg_catalog, pg_temp set standard_conforming_strings = on as $$
declare
    mark constant text :=
        '[\u0300-\u036F\u0483-\u0487\u0591-\u05BD\u05BF\u05C1-\u05C2\u05C4-\u05C5\u05C7\u0610-\u061A\u064B-\u065F\u0670'
        '\u06D6-\u06DC\u06DF-\u06E4\u06E7-\u06E8\u06EA-\u06ED\u0711\u0730-\u074A\u07EB-\u07F3\u07FD\u0816-\u0819\u081B-\u0823'
        '\u0825-\u0827\u0829-\u082D\u0859-\u085B\u0898-\u089F\u08CA-\u08E1\u08E3-\u08FF\u093C\u094D\u0951-\u0954\u09BC\u09CD'
        '\u09FE\u0A3C-\u0A4D\u0ABC\u0ACD\u0B3C\u0B4D\u0BCD\u0C3C\u0C4D-\u0C56\u0CBC\u0CCD\u0D3B-\u0D3C\u0D4D\u0DCA\u0E38-\u0E3A'
        '\u0E48-\u0E4B\u0EB8-\u0EBA\u0EC8-\u0ECB\u0F18-\u0F19\u0F35\u0F37\u0F39\u0F71-\u0F84\u0F86-\u0F87\u0FC6\u1037-\u103A'
        '\u108D\u135D-\u135F\u1714-\u1715\u1734\u17D2\u17DD\u18A9\u1939-\u193B\u1A17-\u1A18\u1A60-\u1A7F\u1AB0-\u1ACE'
        '\u1B34-\u1B44\u1B6B-\u1B73\u1BAA-\u1BAB\u1BE6-\u1BF3\u1C37\u1CD0-\u1CD2\u1CD4-\u1CE8\u1CED\u1CF4\u1CF8-\u1CF9'
        '\u1DC0-\u1DFF\u20D0-\u20F0\u2CEF-\u2CF1\u2D7F\u2DE0-\u2DFF\u302A-\u302F\u3099-\u309A\uA66F\uA674-\uA67D\uA69E-\uA69F'
        '\uA6F0-\uA6F1\uA806\uA82C\uA8C4\uA8E0-\uA8F1\uA92B-\uA92D\uA953\uA9B3-\uA9C0\uAAB0\uAAB2-\uAAB4\uAAB7-\uAAB8'
        '\uAABE-\uAABF\uAAC1\uAAF6\uABED\uFB1E\uFE20-\uFE2F\U000101FD\U000102E0\U00010376-\U0001037A\U00010A0D-\U00010A0F'
        '\U00010A38-\U00010A3F\U00010AE5-\U00010AE6\U00010D24-\U00010D27\U00010EAB-\U00010EAC\U00010EFD-\U00010EFF'
        '\U00010F46-\U00010F50\U00010F82-\U00010F85\U00011046\U00011070\U0001107F\U000110B9-\U000110BA\U00011100-\U00011102'
        '\U00011133-\U00011134\U00011173\U000111C0\U000111CA\U00011235-\U00011236\U000112E9-\U000112EA\U0001133B-\U0001133C'
        '\U0001134D\U00011366-\U00011374\U00011442-\U00011446\U0001145E\U000114C2-\U000114C3\U000115BF-\U000115C0\U0001163F'
        '\U000116B6-\U000116B7\U0001172B\U00011839-\U0001183A\U0001193D-\U0001193E\U00011943\U000119E0\U00011A34\U00011A47'
        '\U00011A99\U00011C3F\U00011D42-\U00011D45\U00011D97\U00011F41-\U00011F42\U00016AF0-\U00016AF4\U00016B30-\U00016B36'
        '\U00016FF0-\U00016FF1\U0001BC9E\U0001D165-\U0001D169\U0001D16D-\U0001D172\U0001D17B-\U0001D182\U0001D185-\U0001D18B'
        '\U0001D1AA-\U0001D1AD\U0001D242-\U0001D244\U0001E000-\U0001E02A\U0001E08F\U0001E130-\U0001E136\U0001E2AE'
        '\U0001E2EC-\U0001E2EF\U0001E4EC-\U0001E4EF\U0001E8D0-\U0001E8D6\U0001E944-\U0001E94A]';
begin
    if char_length(input) > 30 and input ~ (mark || '{31}') then
        return regexp_replace(input, '(' || mark || '{30})' || mark || '+', '\1', 'g');
    end if;
    return input;
end $$;
comment on function lexichord.bound_marks(text) is
'Text in which no letter has more than thirty marks. Internal. Readers may call it.';
