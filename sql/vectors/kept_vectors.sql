-- The documents in their order, for the same chunk may stand in several of them, or twice in one. The recipe's part
-- on a language model does not count: whether a chunk has a context of its is in the chunk's key. Nor do those on
-- metadata that was added and on scans, which are in the key, too, as far as they change a chunk; nor the version of an
-- object, of which what has changed is in the chunks.
create or replace function lexichord.kept_vectors(documents bigint[], recipe text)
returns table (key text, embedding @extschema:vector@.halfvec)
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp set standard_conforming_strings = on as $$
    select distinct on (k.key) k.key, c.embedding
    from document d join chunk c on c.document_id = d.id,
         lexichord.vector_key(c.content, c.context, c.metadata) as k (key)
    where d.id = any(documents) and c.embedding is not null
        and regexp_replace(d.recipe, ' (llm|metadata|ocr|version)=\S+', '', 'g')
            = regexp_replace(kept_vectors.recipe, ' (llm|metadata|ocr|version)=\S+', '', 'g')
    order by k.key, array_position(documents, d.id), c.ordinal
$$;
comment on function lexichord.kept_vectors(bigint[], text) is
'The vectors that chunks of these documents would keep if they were stored again with the same recipe, by vector_key. Readers may call it.';
