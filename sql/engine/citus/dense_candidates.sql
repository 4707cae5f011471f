create or replace function lexichord.dense_candidates(
    query_vector @extschema:vector@.halfvec, depth integer default lexichord.default_depth(), documents bigint[] default null
) returns table (chunk_id bigint, document_id bigint, rank bigint, score double precision)
language plpgsql stable rows 100
set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    chunks bigint[];
    owners bigint[];
    ranks bigint[];
    scores double precision[];
begin
    if documents is null or not lexichord.is_narrow(documents) then
        select array_agg(n.chunk_id), array_agg(n.document_id), array_agg(n.rank), array_agg(1 - n.distance) into chunks, owners, ranks, scores
        from (select n.*, row_number() over (order by n.distance, n.chunk_id) as rank
              from lexichord.near_chunks(query_vector, depth, documents, false) as n where n.distance <> 'NaN') as n;
    end if;
    if cardinality(chunks) >= depth then
        return query select * from unnest(chunks, owners, ranks, scores);
    else  -- a narrow scope, or one that the index does not reach: too far from the query, or behind deleted rows
        return query select * from lexichord.exact_dense_candidates(query_vector, depth, documents);
    end if;
end $$;
comment on function lexichord.dense_candidates(@extschema:vector@.halfvec, integer, bigint[]) is
'The depth chunks nearest to a vector, best first; score = cosine similarity. documents null = everywhere. Readers may call it.';
