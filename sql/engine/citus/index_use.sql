-- As its owner, whom alone the workers know. EXPLAIN shows one shard of many.
create or replace function lexichord.index_use() returns table (index_name text, used boolean, plan text)
language plpgsql security definer set search_path = pg_catalog, lexichord_data, pg_temp set standard_conforming_strings = on
-- EXPLAIN turns it off, and what the transaction has written would not be seen from then on.
set citus.enable_local_execution = on as $$
declare
    sample text := (select quote_literal(c.embedding) || '::@extschema:vector@.halfvec' from chunk c where c.embedding is not null limit 1);
    statement text;
    line text;
begin
    for index_name, statement in values
        ('chunk_hnsw', replace(replace(lexichord.dense_statement(false), '$1', sample), '$2', lexichord.default_depth()::text)),
        ('keyword_terms', (select format('select chunk_id from lexichord_data.keyword where terms && %L::integer[]', array[t.id]) from term t limit 1))
    loop
        used := false;
        plan := null;
        if to_regclass('lexichord_data.' || index_name) is not null and statement is not null then
            for line in execute 'explain ' || statement loop
                used := used or line ~ format('\y%s_\d+\y', index_name);
                plan := coalesce(plan, substring(line from '([A-Z][A-Za-z ]+Scan.* on (?:chunk_vector|keyword))_\d+'));
            end loop;
        end if;
        return next;
    end loop;
end $$;
comment on function lexichord.index_use() is
'Whether the statements of dense_candidates and keyword_proposals use their indexes, with how EXPLAIN says the chunks are read; plan null = no index yet. Readers may call it.';
