create or replace function lexichord.query_vector_source(query text) returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
    select case when lexichord.known_vector(query) is null then 'centroid' else 'prepared' end
$$;
comment on function lexichord.query_vector_source(text) is
'What a search of this query without a vector takes for one: prepared = the one that prepare_query() had made, centroid = the mean of its keyword hits. Readers may call it.';
