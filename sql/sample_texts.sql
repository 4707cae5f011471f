-- By the digest's order: a sample that does not change until the documents do.
create or replace function lexichord.sample_texts(documents integer, without text[]) returns setof text
language sql stable set search_path = lexichord_data, pg_catalog, pg_temp as $$
    select d.text from document d where not d.uri = any(without) order by d.sha256 limit documents
$$;
comment on function lexichord.sample_texts(integer, text[]) is 'Texts of some stored documents, as a reference for what is rare.';
