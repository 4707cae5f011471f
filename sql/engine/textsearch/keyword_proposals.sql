create or replace function lexichord.keyword_proposals(terms tsvector, depth integer, documents bigint[] default null) returns bigint[]
language plpgsql stable
set search_path = pg_catalog, lexichord_data, pg_temp
-- Leaves the BM25 index as the only way: no other plan has its order.
set enable_seqscan = off set enable_sort = off set jit = off
-- pg_textsearch 1.4.0, no release mends it yet: searches that fill the cache of what was written last, beside writers and a
-- vacuum, wait for each other for good, and no time-out or cancelling ends that. Without the cache they read it page by page.
set pg_textsearch.memtable_cache_enabled = off as $$
declare
    -- The index weighs words by what was stored when it was last vacuumed, too, so that a short list is in another order:
    -- of 100,000 questions amid writes five at depth 10 lost one of the first ten with twice the depth.
    statement text := format('select pg_catalog.array_agg(c.chunk_id) from (%s) as c',
        lexichord.keyword_statement(lexichord_data.lexeme_text(terms), 2 * depth, documents is not null));
    proposals bigint[];
begin
    if to_regclass('lexichord_data.keyword_bm25') is null then
        return null;
    end if;
    -- pg_textsearch looks its own names up by the search path, and scores each row again where it does not find them.
    perform set_config('search_path', 'pg_catalog, @extschema:pg_textsearch@, pg_temp', true);  -- ends with the function
    execute statement into proposals using documents;
    return coalesce(proposals, '{}');
end $$;
comment on function lexichord.keyword_proposals(tsvector, integer, bigint[]) is
'Chunks among which the depth best by BM25 are, from the keyword index; null = there is none. Internal. Readers may call it.';
