create or replace function lexichord.document_text(document bigint) returns text
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select d.text from document d where d.id = document
$$;
comment on function lexichord.document_text(bigint) is 'A document''s whole stored text; chunk offsets count its characters from 0. Readers may call it.';
