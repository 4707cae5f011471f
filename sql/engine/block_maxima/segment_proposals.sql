-- Null where reading the scope is better. The chunks of the best blocks are scored first: no block below the least score of
-- their depth best holds a better one (MaxScore; Turtle and Flood, 1995), and mostly few others are above. Where more are than
-- are worth to be read, those that can score most are taken. Deleted chunks take places among them: so many more blocks are
-- taken, and where too few chunks are left, all are read.
-- 233,989 chunks of manuals in three languages, recall@10 and @100 of so many at most against exact, of 70 sentences, 30 times
-- 5 words, 25 times 20 and 25 times 40 of two chunks: 1.000 .989, .997 .999, .992 .994, 1.000 .999; blocks of eight chunks
-- found less in as much time. Four times as many chunks need a third more blocks for the same recall, words more the more there are.
create or replace function lexichord.segment_proposals(segments integer[], terms tsvector, depth integer, documents bigint[]) returns bigint[]
language plpgsql stable set search_path = pg_catalog, lexichord_data, pg_temp
-- A page's bounds are up to 64 kB a term: to sort them by page for their sums takes longer than the sums.
set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off as $$
declare
    stored record;
    owners integer[];  -- the segment of each page,
    firsts integer[];  -- the number of its first block,
    bounds @extschema:vector@.vector[];  -- and what its blocks can score at most
    levels record;
    proposals bigint[];
    least_score double precision;
    dead bigint;
    most bigint;
begin
    select n.chunk_count, n.document_count into stored from corpus_statistics n;
    if 2 * cardinality(documents) < stored.document_count or 20 * depth > stored.chunk_count then
        return null;
    end if;
    execute format('select array_agg(p.segment order by p.segment, p.page), array_agg(16000 * p.page order by p.segment, p.page), '
                   'array_agg(p.bounds order by p.segment, p.page) from (%s) as p', lexichord.bound_statement())
    into owners, firsts, bounds using segments, terms;
    if bounds is null then
        return '{}';
    end if;
    levels := lexichord.bound_levels(bounds, depth);
    proposals := lexichord.block_chunks(owners, firsts, bounds, levels.below, 2 * depth);
    select k.score into least_score from lexichord.exact_term_candidates(terms, depth, documents, proposals) as k where k.rank = depth;
    least_score := coalesce(least_score, 0) * 0.99999;  -- of equal scores the first chunks count; bounds are sums in another order
    if least_score >= levels.below and levels.blocks <= 2 * depth then
        return proposals;
    end if;
    dead := (select sum(s.chunks) from keyword_segment s where s.number = any(segments))
            + (select count(*) from keyword_tail) - stored.chunk_count;
    most := (4 + length(terms) / 8.0) * depth * greatest(1, stored.chunk_count / 100000.0) ^ 0.25
            * greatest(1, 1 + dead::float8 / greatest(stored.chunk_count, 1));
    if most >= (select sum(bit_count(a.above)) from lexichord.blocks_above(bounds, least_score) as a) then
        return lexichord.block_chunks(owners, firsts, bounds, least_score, most);
    end if;
    levels := lexichord.bound_levels(bounds, most);
    proposals := lexichord.block_chunks(owners, firsts, bounds, levels.below, 2 * most);
    if levels.blocks > 2 * most then  -- of many with one bound some, and of those above it all
        proposals := proposals || lexichord.block_chunks(owners, firsts, bounds, levels.above, most);
    end if;
    if dead > 0 and depth > (select count(*) from chunk c where c.id = any(proposals)) then
        return null;
    end if;
    return proposals;
end $$;
comment on function lexichord.segment_proposals(integer[], tsvector, integer, bigint[]) is
'Chunks of segments of the keyword index among which the depth best by BM25 are; null = all chunks in scope are to be read. Internal. Readers may call it.';
