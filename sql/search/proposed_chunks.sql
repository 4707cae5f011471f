create or replace function lexichord.proposed_chunks(terms tsvector, depth integer, documents bigint[] default null) returns bigint[]
language plpgsql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
begin
    -- What an index proposes is of all tenants: few of it might be the caller's own.
    return case when not lexichord_data.is_bound() and (documents is null or not lexichord.is_narrow(documents))
        then lexichord.keyword_proposals(terms, depth, documents) end;
end $$;
comment on function lexichord.proposed_chunks(tsvector, integer, bigint[]) is
'Chunks among which the depth best by BM25 are; null = all chunks in scope are to be read. Internal. Readers may call it.';
