create or replace function lexichord.gather_hits(chunk_ids bigint[]) returns setof lexichord.located_chunk
language plpgsql stable rows 10
set search_path = pg_catalog, lexichord_data, pg_temp
-- Citus plans a statement for its values: it has no generic plan.
set plan_cache_mode = auto as $$
begin
    if lexichord.fans_out() then
        return query select h.* from shard_node n, lateral lexichord.read_hits(chunk_ids) as h;
    else
        return query select * from lexichord.read_hits(chunk_ids);
    end if;
end $$;
comment on function lexichord.gather_hits(bigint[]) is 'read_hits, of all shards where there are some; in no order. Internal. Readers may call it.';
