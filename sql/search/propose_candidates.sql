-- A question's files, its feedback and its hits come from the same lists, which take most of a search: whoever wants all
-- three makes them once. There is nothing to hand on to who is bound to a tenant: own_candidates.
create or replace function lexichord.propose_candidates(
    query text, query_vector @extschema:vector@.halfvec default null, depth integer default lexichord.default_depth(),
    datasets text[] default null, documents bigint[] default null, uri_prefix text default null, filter jsonb default null,
    weights double precision[] default lexichord.default_weights(), query_space text default null,
    question_terms jsonb default null
) returns lexichord.candidate[]
language plpgsql stable
set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    scope bigint[];
    lexemes tsvector;
begin
    perform lexichord.check_search(query, query_vector, query_space, 1, depth, lexichord.default_fusion(), weights);
    if lexichord_data.is_bound() then
        return null;
    end if;
    scope := lexichord.scope_documents(datasets, documents, uri_prefix, filter);
    lexemes := coalesce(lexichord.weighted_terms(question_terms), lexichord.query_lexemes(query, scope));
    if lexemes = ''::tsvector then
        return '{}';
    end if;
    if weights[1] > 0 then
        query_vector := coalesce(query_vector, lexichord.term_centroid(lexemes, scope));
    else
        query_vector := null;
    end if;
    return array(select c from lexichord.own_candidates(case when weights[2] > 0 then lexemes end, query_vector, depth, scope) as c);
end $$;
comment on function lexichord.propose_candidates(text, @extschema:vector@.halfvec, integer, text[], bigint[], text, jsonb, double precision[], text, jsonb) is
'What both channels propose for a question in a scope, for discover_files, relevance_feedback and variant_candidates with the same question and scope, which then search nothing but the insides of documents. question_terms = their terms, by the function of that name. Null for a tenant. Readers may call it.';
