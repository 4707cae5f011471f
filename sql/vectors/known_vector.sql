create or replace function lexichord.known_vector(query text) returns @extschema:vector@.halfvec
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select v.embedding::@extschema:vector@.vector::@extschema:vector@.halfvec from query_vector v, embedding_space s
    where v.space = concat_ws('/', s.provider, s.model, s.dimension) and v.digest = sha256(convert_to(known_vector.query, 'UTF8'))
      and not lexichord_data.is_bound()  -- a tenant would learn what others asked
$$;
comment on function lexichord.known_vector(text) is
'The vector of a query that prepare_query() had embedded, in the space that the database is bound to; null if there is none. Readers may call it.';
