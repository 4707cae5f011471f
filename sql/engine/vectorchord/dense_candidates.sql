create or replace function lexichord.dense_candidates(
    query_vector halfvec, depth integer default 100, documents bigint[] default null
) returns table (chunk_id bigint, document_id bigint, rank bigint, score double precision)
language plpgsql stable rows 100
set search_path = lexichord_data, public, pg_catalog, pg_temp as $$
begin
    if documents is not null and lexichord.is_narrow(documents) then
        return query select * from lexichord.exact_dense_candidates(query_vector, depth, documents);
        return;
    end if;
    -- Nothing to widen: an index without lists hands out rows until the depth is reached, whatever the scope drops.
    return query execute lexichord.dense_statement(documents is not null) using query_vector, depth, documents;
end $$;
comment on function lexichord.dense_candidates(halfvec, integer, bigint[]) is
'The depth chunks nearest to a vector, best first; score = cosine similarity. documents null = everywhere.';
