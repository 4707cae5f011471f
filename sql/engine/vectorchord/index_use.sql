-- EXPLAIN takes no parameters through EXECUTE ... USING everywhere, so the samples stand in as literals.
-- Volatile, because EXPLAIN is not allowed in a function that is not.
create or replace function lexichord.index_use() returns table (index_name text, used boolean, plan text)
language plpgsql set search_path = lexichord_data, public, bm25_catalog, pg_catalog, pg_temp
set enable_sort = off set jit = off as $$
declare
    sample halfvec := (select c.embedding from chunk c where c.embedding is not null limit 1);
    terms text := (select format('{%s:1}', t.id) from term t order by t.df desc limit 1);
    statements jsonb := jsonb_build_object(
        'chunk_dense', replace(replace(lexichord.dense_statement(false), '$1', quote_literal(sample) || '::halfvec'), '$2', '100'),
        'chunk_keyword', lexichord.keyword_statement(terms, 100, false));
    line text;
begin
    for index_name in select * from unnest('{chunk_dense,chunk_keyword}'::text[]) loop
        plan := null;
        if to_regclass('lexichord_data.' || index_name) is not null and statements ->> index_name is not null then
            for line in execute 'explain ' || (statements ->> index_name) loop
                plan := concat_ws(E'\n', plan, line);
            end loop;
        end if;
        -- Not the name alone: the keyword statement's own order names its index, whatever the plan.
        used := coalesce(strpos(plan, 'using ' || index_name || ' ') > 0, false);
        return next;
    end loop;
end $$;
comment on function lexichord.index_use() is
'Whether the statements of dense_candidates and keyword_candidates use their indexes, with EXPLAIN''s plan; plan null = no index yet.';
