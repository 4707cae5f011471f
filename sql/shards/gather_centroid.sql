-- As term_centroid: where there is no vector of the query, that of the ten best keyword hits.
create or replace function lexichord.gather_centroid(candidates lexichord.candidate[]) returns @extschema:vector@.halfvec
language plpgsql stable
set search_path = pg_catalog, lexichord_data, pg_temp
-- Citus plans a statement for its values: it has no generic plan.
set plan_cache_mode = auto as $$
declare
    best bigint[] := array(select c.chunk_id from unnest(candidates) as c where c.channel = 'keyword' and not c.is_boosted and c.rank <= 10);
begin
    return (
        select array_agg(m.mean order by m.place)::@extschema:vector@.vector::@extschema:vector@.halfvec
        from (select u.place, sum(s.amount * u.value) / sum(s.amount) as mean
              from (select f.amount, f.centroid from shard_node n, lateral lexichord.feedback_sums(best) as f) as s,
              unnest(s.centroid) with ordinality as u (value, place)
              group by u.place) as m);
end $$;
comment on function lexichord.gather_centroid(lexichord.candidate[]) is
'The mean vector of the ten best keyword hits of all shards; null if there is none. Internal. Readers may call it.';
