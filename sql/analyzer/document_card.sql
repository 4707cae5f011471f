-- The file's name beside the title: document @1 among 557 rises from 96.3 to 97.1 % raw, 96.6 to 97.8 % by hint.
create or replace function lexichord.document_card(title text, uri text, content text, text_config regconfig) returns tsvector
language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp set standard_conforming_strings = on as $$
begin
    return lexichord.lexemes(concat_ws(E'\n\n', title, title, regexp_replace(uri, '^.*/', ''), left(content, 1500)), text_config);
end $$;
comment on function lexichord.document_card(text, text, text, regconfig) is
'The lexemes by which a document is found as a whole: of its title twice, its file''s name and its first 1,500 characters. Internal.';
