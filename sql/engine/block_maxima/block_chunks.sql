-- In plpgsql, which keeps its plan: before PostgreSQL 18 each call of a function in SQL plans anew, .3 of .9 ms.
create or replace function lexichord.block_chunks(
    segments integer[], firsts integer[], bounds @extschema:vector@.vector[], level double precision, most bigint) returns bigint[]
language plpgsql stable strict set search_path = pg_catalog, lexichord_data, pg_temp
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
begin
    return array(
        with block as materialized (
            select a.page, sum(length(g.gap) + 1) over (partition by a.page order by g.place) as place
            from lexichord.blocks_above(bounds, level) as a, string_to_table(a.above::text, '1') with ordinality as g (gap, place)
            where g.place <= bit_count(a.above)
        )
        select unnest(k.chunk_ids)
        from (select * from block limit most) as b cross join lateral (
            select k.chunk_ids from keyword_block k where k.segment = segments[b.page] and k.number = firsts[b.page] + b.place - 1 offset 0) as k
    );
end $$;
comment on function lexichord.block_chunks(integer[], integer[], @extschema:vector@.vector[], double precision, bigint) is
'The chunks of the blocks whose bounds are above a level, of so many blocks at most; of each page of bounds the segment, and the number of its first block. Internal. Readers may call it.';
