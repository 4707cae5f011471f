-- Loading first and building after is several times faster than building while loading, so an empty table
-- has no index. k1 and b are bm25_parameters'.
create or replace function lexichord.build_indexes() returns boolean
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp set client_min_messages = warning as $$
begin
    if not exists (select from chunk) then
        return false;
    elsif to_regclass('lexichord_data.chunk_hnsw') is not null and to_regclass('lexichord_data.chunk_bm25') is not null then
        -- Rows that came since are scanned in memory, which made queries up to ten times slower;
        -- a segment is written in milliseconds. What a crash has damaged must be built again instead.
        if exists (select from unsaved_keywords) and not lexichord.keyword_index_is_stale() then
            perform @extschema:pg_textsearch@.bm25_spill_index('lexichord_data.chunk_bm25'::text);
        end if;
        return false;
    end if;
    create index if not exists chunk_hnsw on chunk using hnsw (embedding @extschema:vector@.halfvec_cosine_ops);
    create index if not exists chunk_bm25 on chunk using bm25 (keyword_text) with (text_config = 'simple', k1 = 0.9, b = 0.4);
    analyze chunk, term;
    return true;
end $$;
comment on function lexichord.build_indexes() is
'Builds the vector and the keyword index, once there are chunks, and tidies the keyword index after a load; returns whether there was something to build.';
