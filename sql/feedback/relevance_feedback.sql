-- coherence = the mean cosine of two of the chunks (He, Larson & de Rijke, 2008). Where alike documents say alike
-- things, what their best chunks share is what was meant; where they do not, feedback leads astray.
create or replace function lexichord.relevance_feedback(
    query text, query_vector @extschema:vector@.halfvec default null, feedback_documents integer default lexichord.default_feedback_documents(), least_coherence double precision default null,
    depth integer default lexichord.default_depth(),
    datasets text[] default null, documents bigint[] default null, uri_prefix text default null, filter jsonb default null,
    fusion text default lexichord.default_fusion(), weights double precision[] default lexichord.default_weights(), query_space text default null,
    candidates lexichord.candidate[] default null, question_terms jsonb default null
) returns table (chunk_ids bigint[], coherence double precision, terms jsonb, vector @extschema:vector@.halfvec)
language plpgsql stable rows 1
set search_path = pg_catalog, lexichord_data, pg_temp as $$
begin
    chunk_ids := array(select f.chunk_id from lexichord.feedback_chunks(query, query_vector, feedback_documents, depth,
                           datasets, documents, uri_prefix, filter, fusion, weights, query_space, candidates, question_terms) as f order by f.rank);
    select (m.n * m.norm ^ 2 - 1) / nullif(m.n - 1, 0) into coherence
    from (select count(*) as n,
                 @extschema:vector@.vector_norm(
                     @extschema:vector@.avg(@extschema:vector@.l2_normalize(c.embedding)::@extschema:vector@.vector)) as norm
          from chunk c where c.id = any(chunk_ids) and c.embedding is not null) as m;
    if least_coherence is null or coherence >= least_coherence then
        select jsonb_object_agg(t.lexeme, t.times) into terms
        from lexichord.feedback_terms(query, chunk_ids) as t;
        vector := lexichord.feedback_vector(query_vector, chunk_ids);
    end if;
    return next;
end $$;
comment on function lexichord.relevance_feedback(text, @extschema:vector@.halfvec, integer, double precision, integer, text[], bigint[], text, jsonb, text, double precision[], text, lexichord.candidate[], jsonb) is
'One row: the feedback_chunks of a query, how alike they are, and, unless that is less than least_coherence, their feedback_terms and feedback_vector with the default numbers. candidates = what propose_candidates gave for the same question in the same scope, question_terms = their terms. Readers may call it.';
