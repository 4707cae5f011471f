-- Reading all chunks against the index, keyword_candidates of 108 questions of eight kinds, p50 in ms on a busy machine: 5,495
-- chunks 11 and 13, 9,296 20 and 15, 14,440 29 and 19, 30,347 55 and 27, with the same hits. A tail of 1,000 chunks costs a
-- search .7 ms, a segment more a few rows, a merge .2 ms a chunk.
create or replace function lexichord.sealing(
    out least_chunks bigint, out tail_chunks bigint, out segments_a_tier integer, out is_allowed boolean)
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
    select 10000, 500, 8, true
$$;
comment on function lexichord.sealing() is
'From how many chunks on the keyword index has segments, how many chunks may wait outside of them, how many segments of one size are merged, and whether the caller may make one. Internal. Readers may call it.';
