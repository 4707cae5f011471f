create or replace function lexichord.keyword_proposals(terms tsvector, depth integer, documents bigint[] default null) returns bigint[]
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
    select null::bigint[]
$$;
comment on function lexichord.keyword_proposals(tsvector, integer, bigint[]) is
'Chunks among which the depth best by BM25 are, from the keyword index; null = there is none. Internal. Readers may call it.';
