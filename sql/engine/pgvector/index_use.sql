-- EXPLAIN takes no parameters, so a stored vector and a frequent term stand in as literals.
-- They are planned with the search path of term_candidates.
create or replace function lexichord.index_use() returns table (index_name text, used boolean, plan text)
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp
set enable_seqscan = on set enable_sort = on as $$
declare
    depth integer := lexichord.default_depth();
    sample text := (select quote_literal(c.embedding) || '::@extschema:vector@.halfvec' from chunk c where c.embedding is not null limit 1);
    term text := (select t.lexeme from term t order by t.df desc limit 1);
    statements jsonb := jsonb_build_object(
        'chunk_hnsw', replace(replace(lexichord.dense_statement(false), '$1', sample), '$2', depth::text),
        'chunk_bm25', lexichord.keyword_statement(term, depth, false));
    statement text;
    path text := current_setting('search_path');
    line text;
begin
    for index_name in select * from unnest('{chunk_hnsw,chunk_bm25}'::text[]) loop
        -- as keyword_candidates does
        perform set_config('enable_seqscan', (index_name <> 'chunk_bm25')::text, true),
                set_config('enable_sort', (index_name <> 'chunk_bm25')::text, true);
        plan := null;
        if to_regclass('lexichord_data.' || index_name) is not null and statements ->> index_name is not null then
            statement := 'explain ' || (statements ->> index_name);
            perform set_config('search_path', 'pg_catalog, @extschema:pg_textsearch@, pg_temp', true);
            for line in execute statement loop
                plan := coalesce(plan, substring(line from '[A-Z][a-z ]+Scan.* on chunk'));
            end loop;
            perform pg_catalog.set_config('search_path', path, true);
        end if;
        used := coalesce(strpos(plan, 'using ' || index_name || ' ') > 0, false);
        return next;
    end loop;
end $$;
comment on function lexichord.index_use() is
'Whether the statements of dense_candidates and keyword_candidates use their indexes, with how EXPLAIN says the chunks are read; plan null = no index yet.';
