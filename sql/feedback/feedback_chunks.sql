-- One chunk a document: several of one document say what that document is about, not what the query is.
create or replace function lexichord.feedback_chunks(
    query text, query_vector @extschema:vector@.halfvec default null, feedback_documents integer default lexichord.default_feedback_documents(), depth integer default lexichord.default_depth(),
    datasets text[] default null, documents bigint[] default null, uri_prefix text default null, filter jsonb default null,
    fusion text default lexichord.default_fusion(), weights double precision[] default lexichord.default_weights(), query_space text default null,
    candidates lexichord.candidate[] default null, question_terms jsonb default null
) returns table (chunk_id bigint, document_id bigint, rank bigint, score double precision)
language plpgsql stable rows 20
set search_path = pg_catalog, lexichord_data, pg_temp
set plan_cache_mode = force_generic_plan as $$
begin
    perform lexichord.check_search(query, query_vector, query_space, feedback_documents, depth, fusion, weights);
    return query
    select b.chunk_id, b.document_id, row_number() over (order by b.score desc, b.chunk_id), b.score
    from (select distinct on (f.document_id) f.*
          from lexichord.fuse_scope(query, feedback_chunks.question_terms, query_vector, depth, datasets, documents, uri_prefix, filter, weights, null, query_space, fusion,
              feedback_chunks.candidates) as f
          order by f.document_id, f.score desc, f.chunk_id) as b
    order by b.score desc, b.chunk_id
    limit feedback_documents;
end $$;
comment on function lexichord.feedback_chunks(text, @extschema:vector@.halfvec, integer, integer, text[], bigint[], text, jsonb, text, double precision[], text, lexichord.candidate[], jsonb) is
'The best chunk of each of the first documents of a search, best first: what relevance feedback learns from. candidates = what propose_candidates gave for the same question in the same scope, question_terms = their terms. Readers may call it.';
