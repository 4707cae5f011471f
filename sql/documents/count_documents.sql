create or replace function lexichord.count_documents(
    datasets text[] default null, documents bigint[] default null, uri_prefix text default null, filter jsonb default null
) returns bigint
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select coalesce(cardinality(scope), (select count(*) from document))
    from lexichord.scope_documents(datasets, documents, uri_prefix, filter) as scope
$$;
comment on function lexichord.count_documents(text[], bigint[], text, jsonb) is 'How many documents a scope has. Readers may call it.';
