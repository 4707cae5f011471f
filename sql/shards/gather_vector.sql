create or replace function lexichord.gather_vector(document bigint) returns table (chunks bigint, vector @extschema:vector@.halfvec)
language plpgsql stable rows 1
set search_path = pg_catalog, lexichord_data, pg_temp
-- Citus plans a statement for its values: it has no generic plan.
set plan_cache_mode = auto as $$
declare
    own_place integer;
begin
    if lexichord.fans_out() then  -- a value that Citus knows beforehand leads to that one shard, or, null, to none
        own_place := (select n.place from shard_node n, lateral lexichord.held_numbers('doc', array[document]) as h (numbers)
                      where cardinality(h.numbers) > 0);
    end if;
    if own_place is null then
        return query select v.chunks, v.vector from lexichord.document_vector(document) as v;
    else
        return query select v.chunks, v.vector from shard_node n, lateral lexichord.document_vector(document) as v where n.place = own_place;
    end if;
end $$;
comment on function lexichord.gather_vector(bigint) is 'document_vector, of whichever shard has the document. Internal. Readers may call it.';
