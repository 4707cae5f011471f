-- Loading first and building after is several times faster than building while loading, so an empty table
-- has no index.
create or replace function lexichord.build_indexes() returns boolean
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp set client_min_messages = warning as $$
declare
    bm25 record;
begin
    if not exists (select from lexichord.outgrown_indexes()) then
        perform lexichord.refresh_impacts();
        perform lexichord.fold_statistics();
        return false;
    end if;
    perform lexichord.hold_writers();  -- before the table: else there are deadlocks
    select p.k1, p.b into bm25 from lexichord.bm25_parameters() as p;
    create index if not exists chunk_hnsw on chunk using hnsw (embedding @extschema:vector@.halfvec_cosine_ops);
    execute format('create index if not exists keyword_bm25 on keyword using bm25 (keyword_text)
                    with (text_config = ''simple'', k1 = %s, b = %s)', bm25.k1, bm25.b);
    perform lexichord.refresh_impacts();  -- after it: an index that is built over rows just updated waits for the commit
    perform lexichord.fold_statistics();
    analyze chunk, term, keyword;
    return true;
end $$;
comment on function lexichord.build_indexes() is
'Builds the vector and the keyword index, once there are chunks; returns whether there was something to build.';
