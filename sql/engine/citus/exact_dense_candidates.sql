create or replace function lexichord.exact_dense_candidates(
    query_vector @extschema:vector@.halfvec, depth integer default lexichord.default_depth(), documents bigint[] default null
) returns table (chunk_id bigint, document_id bigint, rank bigint, score double precision)
language sql stable rows 100
set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select n.chunk_id, n.document_id, row_number() over (order by n.distance, n.chunk_id), 1 - n.distance
    from lexichord.near_chunks(query_vector, depth, documents, true) as n where n.distance <> 'NaN'
    order by 3
$$;
comment on function lexichord.exact_dense_candidates(@extschema:vector@.halfvec, integer, bigint[]) is
'As dense_candidates, by comparing every vector in scope: for narrow scopes, and to measure recall against. Readers may call it.';
