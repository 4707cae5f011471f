create or replace function lexichord.find_documents(reference text) returns table (document_id bigint, dataset text, uri text)
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select d.id, s.name, d.uri from document d join dataset s on s.id = d.dataset_id
    where d.uri = reference or right(d.uri, length(reference) + 1) = '/' || reference
       or (reference ~ '^\d{1,18}$' and d.id = case when reference ~ '^\d{1,18}$' then reference::bigint end)
    order by d.uri, d.id
$$;
comment on function lexichord.find_documents(text) is 'The documents that a reference may mean: an id, a uri, or the end of a uri.';
