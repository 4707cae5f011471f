-- Null where nothing is sealed: then all chunks in scope are read.
create or replace function lexichord.keyword_proposals(terms tsvector, depth integer, documents bigint[] default null) returns bigint[]
language plpgsql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    segments integer[] := array(select s.number from keyword_segment s where not s.superseded);
    proposals bigint[];
begin
    if segments <> '{}' then
        proposals := lexichord.segment_proposals(segments, terms, depth, documents);
    end if;
    return case when proposals is not null then proposals || array(select t.chunk_id from keyword_tail t) end;
exception when undefined_table then
    return null;  -- a segment of this snapshot was merged and dropped meanwhile
end $$;
comment on function lexichord.keyword_proposals(tsvector, integer, bigint[]) is
'Chunks among which the depth best by BM25 are, from the keyword index; null = there is none. Internal. Readers may call it.';
