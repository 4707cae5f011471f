-- Under 20,000 chunks reading all takes 5 ms. Each segment is an index that a search reads, 1 to 4 ms; a merge costs a
-- chunk .02 ms. A segment is a table.
create or replace function lexichord.sealing(
    out least_chunks bigint, out tail_chunks bigint, out segments_a_tier integer, out is_allowed boolean)
language sql stable parallel safe set search_path = pg_catalog, pg_temp as $$
    select 20000, 2000, 2, has_schema_privilege('lexichord_data', 'create')
$$;
comment on function lexichord.sealing() is
'From how many chunks on the keyword index has segments, how many chunks may wait outside of them, how many segments of one size are merged, and whether the caller may make one. Internal. Readers may call it.';
