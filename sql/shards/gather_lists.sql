create or replace function lexichord.gather_lists(
    query text, terms jsonb, query_vector @extschema:vector@.halfvec, depth integer, datasets text[], documents bigint[], uri_prefix text, filter jsonb,
    weights double precision[], boost jsonb, query_space text
) returns table (
    channel text, is_boosted boolean, chunk_numbers bigint[], document_numbers bigint[], scores double precision[], room bigint,
    own_documents bigint[], missing text[], problem text)
language plpgsql stable rows 20
set search_path = pg_catalog, lexichord_data, pg_temp
-- Citus plans a statement for its values: it has no generic plan.
set plan_cache_mode = auto as $$
declare  -- each shard refuses another space than this, so that no answer is of two
    own_space text := coalesce(query_space, (select b.space from lexichord.bound_space() as b));
begin
    return query
    select c.channel, c.is_boosted, c.chunk_numbers, c.document_numbers, c.scores, c.room, s.own_documents, s.missing, s.problem
    from shard_node n,
    lateral lexichord.shard_scope(n.number, gather_lists.datasets, gather_lists.documents, gather_lists.uri_prefix, gather_lists.filter) as s,
    lateral lexichord.shard_candidates(gather_lists.query, gather_lists.terms, gather_lists.query_vector, gather_lists.depth, s.own_datasets,
        s.own_documents, gather_lists.uri_prefix, gather_lists.filter, gather_lists.weights, gather_lists.boost, own_space) as c;
end $$;
comment on function lexichord.gather_lists(text, jsonb, @extschema:vector@.halfvec, integer, text[], bigint[], text, jsonb, double precision[], jsonb, text) is
'The shard_candidates of all nodes, each in what its shard has of the scope. Internal. Readers may call it.';
