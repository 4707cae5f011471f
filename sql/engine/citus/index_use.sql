-- As its owner, whom alone the workers know. EXPLAIN shows one shard of many.
create or replace function lexichord.index_use() returns table (index_name text, used boolean, plan text)
language plpgsql security definer set search_path = pg_catalog, lexichord_data, pg_temp set standard_conforming_strings = on
-- EXPLAIN turns it off, and what the transaction has written would not be seen from then on.
set citus.enable_local_execution = on as $$
declare
    sample text := (select quote_literal(c.embedding) || '::@extschema:vector@.halfvec' from chunk c where c.embedding is not null limit 1);
    line text;
begin
    index_name := 'chunk_hnsw';
    used := false;
    if to_regclass('lexichord_data.chunk_hnsw') is not null and sample is not null then
        for line in execute 'explain ' || replace(replace(lexichord.dense_statement(false), '$1', sample), '$2', lexichord.default_depth()::text) loop
            used := used or line ~ '\ychunk_hnsw_\d+\y';
            plan := coalesce(plan, substring(line from '([A-Z][A-Za-z ]+Scan.* on chunk_vector)_\d+'));
        end loop;
    end if;
    return next;
end $$;
comment on function lexichord.index_use() is
'Whether the statements of dense_candidates and keyword_proposals use their indexes, with how EXPLAIN says the chunks are read; plan null = no index yet. Readers may call it.';
