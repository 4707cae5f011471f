create or replace function lexichord.reusable_chunks(documents bigint[], recipe text) returns setof text
language sql stable set search_path = lexichord_data, pg_catalog, pg_temp as $$
    select k.content_hash from lexichord.kept_vectors(documents, recipe) as k
$$;
comment on function lexichord.reusable_chunks(bigint[], text) is
'The content hashes of chunks that need not be embedded again: store_document takes their vectors from these documents.';
