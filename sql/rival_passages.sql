-- Less than hybrid_search gives: of the same k chunks few are compared, and all others' contents
-- took 1.5 ms to send and to read.
create or replace function lexichord.rival_passages(
    query text, query_vector @extschema:vector@.halfvec default null, k integer default lexichord.default_depth(), depth integer default lexichord.default_depth(),
    datasets text[] default null, documents bigint[] default null, uri_prefix text default null, filter jsonb default null,
    query_space text default null, most_documents integer default 10, most_passages integer default 2
) returns table (document_id bigint, content text, dense_score double precision)
language plpgsql stable rows 20
set search_path = pg_catalog, lexichord_data, pg_temp
-- A custom plan looks cheaper each time, and costs a planning each time.
set plan_cache_mode = force_generic_plan as $$
begin
    return query
    with hit as (
        select h.*, row_number() over (order by h.score desc, h.chunk_id) as place
        from lexichord.hybrid_search(query, query_vector, k, depth, datasets, documents, uri_prefix, filter,
            query_space => query_space) as h
    ), numbered as (
        select h.*, min(h.place) over own as first, row_number() over (own order by h.place) as number
        from hit h window own as (partition by h.document_id)
    ), ranked as (
        select n.*, dense_rank() over (order by n.first) as file from numbered n
    )
    select r.document_id, r.content, r.dense_score
    from ranked r
    where r.file <= most_documents and r.number <= most_passages
    order by r.file, r.number;
end $$;
comment on function lexichord.rival_passages(text, @extschema:vector@.halfvec, integer, integer, text[], bigint[], text, jsonb, text, integer, integer) is
'The best passages of the best documents among the k chunks that hybrid_search finds, document by document: what evidence is compared with.';
