-- Loading first and building after is several times faster than building while loading, so an empty table
-- has no index.
create or replace function lexichord.build_indexes() returns boolean
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp set client_min_messages = warning as $$
declare
    bm25 record;
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
    select p.k1, p.b into bm25 from lexichord.bm25_parameters() as p;
    create index if not exists chunk_hnsw on chunk using hnsw (embedding @extschema:vector@.halfvec_cosine_ops);
    execute format('create index if not exists chunk_bm25 on chunk using bm25 (keyword_text)
                    with (text_config = ''simple'', k1 = %s, b = %s)', bm25.k1, bm25.b);
    analyze chunk, term;
    return true;
end $$;
comment on function lexichord.build_indexes() is
'Builds the vector and the keyword index, once there are chunks, and tidies the keyword index after a load; returns whether there was something to build.';
