-- The documents in their order, for the same chunk may stand in several of them, or twice in one.
create or replace function lexichord.kept_vectors(documents bigint[], recipe text)
returns table (content_hash text, embedding halfvec)
language sql stable set search_path = lexichord_data, public, pg_catalog, pg_temp as $$
    select distinct on (c.content_hash) c.content_hash, c.embedding
    from document d join chunk c on c.document_id = d.id
    where d.id = any(documents) and d.recipe = kept_vectors.recipe and c.embedding is not null
    order by c.content_hash, array_position(documents, d.id), c.ordinal
$$;
comment on function lexichord.kept_vectors(bigint[], text) is
'The vectors that chunks of these documents would keep if they were stored again with the same recipe.';
