-- The lists that fuse_terms is made of, not fused: gather_candidates, or db/ranked.py, puts those of all shards together,
-- and they are fused once. A row a list, its chunks best first. room = chunks in scope, up to the depth.
create or replace function lexichord.shard_candidates(
    query text, terms jsonb default null, query_vector @extschema:vector@.halfvec default null, depth integer default lexichord.default_depth(),
    datasets text[] default null, documents bigint[] default null, uri_prefix text default null, filter jsonb default null,
    weights double precision[] default lexichord.default_weights(), boost jsonb default null, query_space text default null
) returns table (
    channel text, is_boosted boolean, chunk_numbers bigint[], document_numbers bigint[], scores double precision[], room bigint)
language plpgsql stable rows 4
set search_path = pg_catalog, lexichord_data, pg_temp
-- A custom plan looks cheaper each time, and costs a planning each time.
set plan_cache_mode = force_generic_plan as $$
declare
    scope bigint[];
    lexemes tsvector;
    boosted bigint[];
begin
    perform lexichord.check_search(coalesce(query, terms::text), query_vector, query_space, 1, depth, lexichord.default_fusion(), weights);
    perform lexichord.check_boost(boost);
    scope := lexichord.scope_documents(datasets, documents, uri_prefix, filter);
    boosted := (select array_agg(key::bigint) from jsonb_each(boost) where scope is null or key::bigint = any(scope));
    lexemes := coalesce(lexichord.weighted_terms(terms), lexichord.query_lexemes(query, scope));
    room := lexichord.chunk_room(depth, scope);
    return query
    select w.channel, w.is_boosted, array_agg(w.chunk_id order by w.rank), array_agg(w.document_id order by w.rank),
           array_agg(w.score order by w.rank), shard_candidates.room
    from lexichord.own_candidates(case when weights[2] > 0 then lexemes end, case when weights[1] > 0 then query_vector end, depth, scope, boosted) as w
    where lexemes is distinct from ''::tsvector
    group by w.channel, w.is_boosted
    union all
    select null, null, null, null, null, shard_candidates.room;
end $$;
comment on function lexichord.shard_candidates(text, jsonb, @extschema:vector@.halfvec, integer, text[], bigint[], text, jsonb, double precision[], jsonb, text) is
'What each channel proposes on one shard, a row a list, boosted documents'' own lists apart; the last row, without a list, has the room alone. Arguments as variant_candidates. Readers may call it.';
