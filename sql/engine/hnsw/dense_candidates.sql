create or replace function lexichord.dense_candidates(
    query_vector @extschema:vector@.halfvec, depth integer default lexichord.default_depth(), documents bigint[] default null
) returns table (chunk_id bigint, document_id bigint, rank bigint, score double precision)
language plpgsql stable rows 100
set search_path = pg_catalog, lexichord_data, pg_temp
-- All end with the function. The first is set again below; relaxed_order keeps a filtered scan
-- going until the depth is reached (recall .967 -> .999).
set hnsw.ef_search = 100 set hnsw.iterative_scan = relaxed_order set hnsw.max_scan_tuples = 20000 as $$
declare
    chunks bigint[];
    owners bigint[];
    ranks bigint[];
    scores double precision[];
    -- The more chunks there are, the fewer of the nearest are found by so many. Contracts, recall@10 and ms of a search at 100,
    -- 200, 300: of 100,000 chunks .968, .983 and 2.2, 3.8; of a million, 217 questions at 200 to 500, 700, 1,000: .899, .917,
    -- .949, .967, .977, .982. Of 10,000 chunks 100 are enough (.978).
    effort integer := greatest(100, 200 * ((select c.chunk_count from corpus c) / 100000::float8) ^ 0.4);
begin
    if documents is null or not lexichord.is_narrow(documents) then
        -- Below the depth, ef_search would cap the rows; 1,000 is the most that it takes. In a wide scope (5,990 of 6,000
        -- random vectors of 384, recall@10 at 100 / 200): .85 / 1.0, and the planner rather compares all: 28 / 21 ms.
        perform set_config('hnsw.ef_search', least(greatest(depth, effort, case when documents is null then 0 else 200 end), 1000)::text, true);
        execute format('select array_agg(c.id), array_agg(c.document_id), array_agg(c.rank), array_agg(c.score)
                        from (%s) as c (id, document_id, rank, score)', lexichord.dense_statement(documents is not null))
        into chunks, owners, ranks, scores using query_vector, depth, documents;
    end if;
    if cardinality(chunks) >= depth then
        return query select * from unnest(chunks, owners, ranks, scores);
    else  -- a narrow scope, or one that the index does not reach: too far from the query, or behind deleted rows
        return query select * from lexichord.exact_dense_candidates(query_vector, depth, documents);
    end if;
end $$;
comment on function lexichord.dense_candidates(@extschema:vector@.halfvec, integer, bigint[]) is
'The depth chunks nearest to a vector, best first; score = cosine similarity. documents null = everywhere. Readers may call it.';
