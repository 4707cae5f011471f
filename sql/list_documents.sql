create or replace function lexichord.list_documents(
    datasets text[] default null, documents bigint[] default null, uri_prefix text default null, filter jsonb default null
) returns table (document_id bigint, dataset text, uri text, title text, media_type text, characters integer,
                 chunks bigint, metadata jsonb, updated_at timestamptz)
language sql stable set search_path = lexichord_data, pg_catalog, pg_temp as $$
    select d.id, s.name, d.uri, d.title, d.media_type, length(d.text),
           (select count(*) from chunk c where c.document_id = d.id), d.metadata, d.updated_at
    from lexichord.scope_documents(datasets, documents, uri_prefix, filter) as scope, document d
    join dataset s on s.id = d.dataset_id
    where scope is null or d.id = any(scope)
    order by s.name, d.uri
$$;
comment on function lexichord.list_documents(text[], bigint[], text, jsonb) is 'The documents of a scope.';
