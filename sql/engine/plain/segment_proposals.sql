-- Score-at-a-time (Lin & Trotman, 2015): postings in the order of what they add to a score, until so many are read; the
-- chunks with the largest sums are candidates. Null where reading the scope is better. 100k chunks, recall@10 and @100
-- against exact, of 17 questions of LegalBench-RAG and of 40 of up to 40 words drawn from one or two chunks: .994 .953 and
-- .997 .982; with twice as many postings 1.000 .994 and 1.000 1.000, in the time that reading all takes. A million
-- chunks, the same 17 questions: as many postings and candidates .494 .331, 4 times as many postings .776 .670, 10 times
-- .971 .884, 10 times and 2.5 times as many candidates 1.000 .951, 5 times .978, in 19, 42, 87, 107 and 116 ms at a load of
-- 8; all take about 200.
create or replace function lexichord.segment_proposals(segments integer[], terms tsvector, depth integer, documents bigint[]) returns bigint[]
language plpgsql stable set search_path = pg_catalog, lexichord_data, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
    stored record;
    grown double precision;
    proposals bigint[];
begin
    select n.chunk_count, n.document_count into stored from corpus_statistics n;
    if 2 * cardinality(documents) < stored.document_count or 20 * depth > stored.chunk_count then
        return null;
    end if;
    -- Of how many times 100,000 chunks the index is: a frequent word has so many more postings.
    grown := greatest(1, stored.chunk_count / 100000.0);
    execute format('select array_agg(c.chunk_id) from (%s) as c', lexichord.posting_statement())
    into proposals using segments, terms, ((100 + 10 * length(terms)) * depth * grown)::bigint, (20 * depth * sqrt(grown))::bigint;
    return coalesce(proposals, '{}');
end $$;
comment on function lexichord.segment_proposals(integer[], tsvector, integer, bigint[]) is
'Chunks of segments of the keyword index among which the depth best by BM25 are; null = all chunks in scope are to be read. Internal. Readers may call it.';
