-- Segments of one size are merged when there are enough of them (tiered compaction, as in LSM trees), so that a chunk is
-- written a few times in its life. One process seals at a time; others leave it to that one. The tail is left last: whoever
-- deletes what is in it would have to wait from then on. No join finds it: of a tail that was analyzed while it was empty the
-- planner expects no rows, and compares each with each. A chunk that is in a segment and in the tail does no harm. Deleted
-- chunks cost a search places: once they are as many as the living, all segments are merged.
create or replace function lexichord.seal_keywords() returns boolean
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    rules record;
    merged integer[] := '{}';
    mates record;
    sealed integer;
    waiting bigint[];
    members bigint[];
    size bigint;
    living bigint := (select n.chunk_count from corpus_statistics n);
    half_dead boolean := coalesce((select sum(s.chunks) from keyword_segment s where not s.superseded), 0) > 2 * living;
begin
    select * into rules from lexichord.sealing();
    -- While chunks are few, for segments hold impacts, too. Writers are held before sealing is, as make_indexes does it.
    if rules.is_allowed and living < 2 * rules.least_chunks and not exists (select from keyword_segment) and lexichord.refresh_impacts() then
        return false;
    end if;
    if not rules.is_allowed or living < rules.least_chunks
       or not half_dead and (select count(*) from (select from keyword_tail limit rules.tail_chunks + 1) as t) <= rules.tail_chunks
       or not pg_try_advisory_xact_lock(hashtextextended('lexichord.seal_keywords', 0)) then
        return false;
    end if;
    perform lexichord.drop_segment(s.number) from keyword_segment s where s.superseded;
    waiting := array(select t.chunk_id from keyword_tail t);
    size := cardinality(waiting);
    loop
        select array_agg(s.number) as numbers, sum(s.chunks) as chunks into mates
        from keyword_segment s
        where not s.superseded and s.number <> all(merged)
          and (half_dead or floor(log(rules.segments_a_tier, greatest(s.chunks / rules.tail_chunks, 1))) <= floor(log(rules.segments_a_tier, greatest(size / rules.tail_chunks, 1))));
        exit when coalesce(cardinality(mates.numbers), 0) < case when half_dead then 1 else rules.segments_a_tier - 1 end;
        merged := merged || mates.numbers;
        size := size + mates.chunks;
    end loop;
    members := waiting || lexichord.segment_chunks(merged);  -- once, whatever plan reads chunk
    members := array(select c.id from chunk c where c.id = any(members) order by c.id);
    update keyword_segment s set superseded = true where s.number = any(merged);
    insert into keyword_segment (number, chunks)
    select coalesce(max(s.number), 0) + 1, cardinality(members) from keyword_segment s
    returning number into sealed;
    perform lexichord.seal_segment(sealed, members);
    delete from keyword_tail t where t.ctid = any(array(
        select w.ctid from keyword_tail w where w.chunk_id = any(waiting) for update skip locked));
    return true;
end $$;
comment on function lexichord.seal_keywords() is
'Makes a segment of the keyword index of the chunks that wait, once they are many, and merges segments. Returns whether it did. Before the first one it sees to the impacts, see refresh_impacts.';
