-- EXPLAIN takes no parameters, so a stored vector and a frequent term stand in as literals.
-- They are planned with the search path of segment_proposals.
-- Volatile, because EXPLAIN is not allowed in a function that is not.
create or replace function lexichord.index_use() returns table (index_name text, used boolean, plan text)
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp
set vchordrq.probes = '' set enable_sort = on set bm25_catalog.enable_index = on set vchordrq.enable_scan = on as $$
declare
    depth integer := lexichord.default_depth();
    sample text := (select quote_literal(c.embedding) || '::@extschema:vector@.halfvec' from chunk c where c.embedding is not null limit 1);
    terms text := (select format('{%s:1}', t.id) from term t order by t.df desc limit 1);
    segment integer := (select max(s.number) from keyword_segment s where not s.superseded);
    keyword text := case when segment is null then 'keyword' else format('keyword_part_%s_vector_idx', segment) end;
    statements jsonb := jsonb_build_object(
        'chunk_dense', replace(replace(lexichord.dense_statement(false), '$1', sample), '$2', depth::text),
        keyword, case when segment is not null then lexichord.segment_statement(segment, terms, depth) end);
    statement text;
    path text := current_setting('search_path');
    line text;
begin
    perform set_config('vchordrq.probes', p.probes, true) from lexichord_data.dense_probes() as p;
    for index_name in select * from unnest(array['chunk_dense', keyword]) loop
        perform set_config('enable_sort', (index_name <> keyword)::text, true);  -- as segment_proposals does
        plan := null;
        if to_regclass('lexichord_data.' || index_name) is not null and statements ->> index_name is not null then
            statement := 'explain ' || (statements ->> index_name);
            perform set_config('search_path', 'pg_catalog, @extschema:vchord_bm25@, pg_temp', true);
            for line in execute statement loop
                plan := coalesce(plan, substring(line from '[A-Z][a-z ]+Scan.* on (?:chunk|keyword_part)'));
            end loop;
            perform pg_catalog.set_config('search_path', path, true);
        end if;
        used := coalesce(strpos(plan, 'using ' || index_name) > 0, false);
        return next;
    end loop;
end $$;
comment on function lexichord.index_use() is
'Whether the statements of dense_candidates and segment_proposals use their indexes, with how EXPLAIN says the chunks are read; plan null = no index yet.';
