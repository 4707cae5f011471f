create or replace function lexichord.keyword_centroid(query text, documents bigint[] default null) returns halfvec
language sql stable set search_path = lexichord_data, public, pg_catalog, pg_temp as $$
    select lexichord.term_centroid(lexichord.lexemes(query), documents)
$$;
comment on function lexichord.keyword_centroid(text, bigint[]) is
'The mean vector of the ten best keyword hits; null if there is none.';
