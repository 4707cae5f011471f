create or replace function lexichord.find_documents(reference text, document bigint default null) returns table (document_id bigint, dataset text, uri text)
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select d.id, s.name, d.uri from document d join dataset s on s.id = d.dataset_id
    where d.id = document
       or document is null and (d.uri = reference or right(d.uri, length(reference) + 1) = '/' || reference)
    order by d.uri, d.id
$$;
comment on function lexichord.find_documents(text, bigint) is
'The documents that a reference may mean, a uri or the end of one; or the one of an id. Readers may call it.';
