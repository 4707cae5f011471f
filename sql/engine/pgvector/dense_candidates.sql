create or replace function lexichord.dense_candidates(
    query_vector halfvec, depth integer default 100, documents bigint[] default null
) returns table (chunk_id bigint, document_id bigint, rank bigint, score double precision)
language plpgsql stable rows 100
set search_path = lexichord_data, public, pg_catalog, pg_temp
-- Both end with the function. The first is set again below; relaxed_order keeps a filtered scan
-- going until the depth is reached (recall .967 -> .999).
set hnsw.ef_search = 100 set hnsw.iterative_scan = relaxed_order as $$
begin
    if documents is not null and lexichord.is_narrow(documents) then
        return query select * from lexichord.exact_dense_candidates(query_vector, depth, documents);
        return;
    end if;
    -- Below the depth, ef_search would cap the rows; 1,000 is the most that it takes.
    perform set_config('hnsw.ef_search', least(greatest(depth, 100), 1000)::text, true);
    return query execute lexichord.dense_statement(documents is not null) using query_vector, depth, documents;
end $$;
comment on function lexichord.dense_candidates(halfvec, integer, bigint[]) is
'The depth chunks nearest to a vector, best first; score = cosine similarity. documents null = everywhere.';
