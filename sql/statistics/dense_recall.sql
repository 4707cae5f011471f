-- By scores, not by ids: of chunks with one text, any is as near as the others. The index's sum of a distance
-- differs from the operator's in the last digits.
create or replace function lexichord.dense_recall(
    query_vector @extschema:vector@.halfvec, k integer default lexichord.default_k(), documents bigint[] default null
) returns double precision
language sql stable
set search_path = pg_catalog, lexichord_data, pg_temp as $$
    with exact as (
        select min(e.score) as least, count(*) as wanted
        from lexichord.exact_dense_candidates(query_vector, k, documents) as e
    ), approximate as (
        select d.score from lexichord.dense_candidates(query_vector, greatest(k, lexichord.default_depth()), documents) as d
        where d.rank <= k
    )
    select count(*) filter (where a.score >= e.least - 1e-6)::float8 / nullif(e.wanted, 0)
    from exact e left join approximate a on true group by e.wanted
$$;
comment on function lexichord.dense_recall(@extschema:vector@.halfvec, integer, bigint[]) is
'The share of the k chunks nearest to a vector that the vector index finds, 0 to 1, null if there are none. documents null = everywhere. Readers may call it.';
