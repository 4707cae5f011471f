create or replace function lexichord.reusable_chunks(documents bigint[], recipe text) returns setof text
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select k.key from lexichord.kept_vectors(documents, recipe) as k
$$;
comment on function lexichord.reusable_chunks(bigint[], text) is
'The vector_keys of chunks that need not be embedded again: store_document takes their vectors from these documents. Readers may call it.';
