-- Only building packs the keyword index: later rows wait in a part of it that every query reads whole. So an
-- empty table has no index.
create or replace function lexichord.build_indexes() returns boolean
language plpgsql set search_path = lexichord_data, public, bm25_catalog, pg_catalog, pg_temp set client_min_messages = warning as $$
begin
    if not exists (select from chunk)
       or (to_regclass('lexichord_data.chunk_dense') is not null and to_regclass('lexichord_data.chunk_keyword') is not null) then
        return false;
    end if;
    create index if not exists chunk_dense on chunk using vchordrq (embedding halfvec_cosine_ops);
    create index if not exists chunk_keyword on chunk using bm25 (keyword_vector bm25_catalog.bm25_ops);
    analyze chunk;
    return true;
end $$;
comment on function lexichord.build_indexes() is
'Builds the vector and the keyword index, once there are chunks; returns whether there was something to build.';
