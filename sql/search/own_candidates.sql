-- A boosted document's own chunks are candidates too, so that it can answer although none of them is in the lists of the
-- whole scope. The lists of the scope may be known already, as `candidates`; who is bound to a tenant cannot tell what they
-- are, so that nobody is shown what is another's.
create or replace function lexichord.own_candidates(
    terms tsvector, query_vector @extschema:vector@.halfvec, depth integer, scope bigint[] default null, boosted bigint[] default null,
    candidates lexichord.candidate[] default null
) returns setof lexichord.candidate
language plpgsql stable rows 200
set search_path = pg_catalog, lexichord_data, pg_temp
-- A custom plan looks cheaper each time, and costs a planning each time.
set plan_cache_mode = force_generic_plan as $$
begin
    if candidates is not null and not lexichord_data.is_bound() then
        return query select * from unnest(candidates) as e where not e.is_boosted;
    else
        return query
        select 'dense', false, d.chunk_id, d.document_id, d.rank, d.score
        from lexichord.dense_candidates(query_vector, depth, scope) as d where query_vector is not null
        union all
        select 'keyword', false, k.chunk_id, k.document_id, k.rank, k.score
        from lexichord.term_candidates(terms, depth, scope) as k where terms is not null;
    end if;
    return query
    select 'dense', true, d.chunk_id, d.document_id, d.rank, d.score
    from lexichord.dense_candidates(query_vector, depth, boosted) as d where query_vector is not null and boosted is not null
    union all
    select 'keyword', true, k.chunk_id, k.document_id, k.rank, k.score
    from lexichord.term_candidates(terms, depth, boosted) as k where terms is not null and boosted is not null;
end $$;
comment on function lexichord.own_candidates(tsvector, @extschema:vector@.halfvec, integer, bigint[], bigint[], lexichord.candidate[]) is
'What both channels propose, those of boosted documents apart; a channel without terms or vector proposes nothing. candidates = the lists of the scope, where they are known. Internal. Readers may call it.';
