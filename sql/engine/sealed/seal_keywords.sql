-- Segments of one size are merged when there are enough of them (tiered compaction, as in LSM trees), so that a chunk is
-- written a few times in its life. One process seals at a time; others leave it to that one.
create or replace function lexichord.seal_keywords(most bigint default null) returns boolean
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    rules record;
    merged integer[] := '{}';
    mates record;
    sealed integer;
    members bigint[];
    size bigint;
begin
    select * into rules from lexichord.sealing();
    -- In this order: writers come here with each document, and the tail of a small corpus is all of it.
    if not rules.is_allowed
       or (select n.chunk_count from corpus_statistics n) < rules.least_chunks
       or (select count(*) from (select from keyword_tail limit rules.tail_chunks + 1) as t) <= rules.tail_chunks
       or not pg_try_advisory_xact_lock(hashtextextended('lexichord.seal_keywords', 0)) then
        return false;
    end if;
    perform lexichord.drop_segment(s.number) from keyword_segment s where s.superseded;
    -- What somebody is deleting just now stays: who waits for that one's end may be waited for.
    with free as (select t.chunk_id from keyword_tail t for update skip locked),
         taken as (delete from keyword_tail t using free f where t.chunk_id = f.chunk_id returning t.chunk_id)
    select array_agg(t.chunk_id), count(*) into members, size from taken t;
    loop
        select array_agg(s.number) as numbers, sum(s.chunks) as chunks into mates
        from keyword_segment s
        where not s.superseded and s.number <> all(merged)
          and floor(log(rules.segments_a_tier, greatest(s.chunks / rules.tail_chunks, 1))) <= floor(log(rules.segments_a_tier, greatest(size / rules.tail_chunks, 1)));
        exit when coalesce(cardinality(mates.numbers), 0) < rules.segments_a_tier - 1 or size + mates.chunks > most;
        merged := merged || mates.numbers;
        size := size + mates.chunks;
    end loop;
    members := array(select k.chunk_id from keyword k
                     where k.chunk_id = any(members || lexichord.segment_chunks(merged)) order by k.chunk_id);
    update keyword_segment s set superseded = true where s.number = any(merged);
    insert into keyword_segment (number, chunks)
    select coalesce(max(s.number), 0) + 1, cardinality(members) from keyword_segment s
    returning number into sealed;
    perform lexichord.seal_segment(sealed, members);
    return true;
end $$;
comment on function lexichord.seal_keywords(bigint) is
'Makes a segment of the keyword index of the chunks that wait, once they are many, and merges segments, most chunks at a time (null = any number). Returns whether it did.';
