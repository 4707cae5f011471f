-- EXPLAIN takes no parameters, so a stored vector stands in as a literal, and keyword_plan has its own. Volatile, because
-- EXPLAIN is not allowed in a function that is not.
create or replace function lexichord.index_use() returns table (index_name text, used boolean, plan text)
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp set standard_conforming_strings = on
set enable_seqscan = on set enable_sort = on as $$
declare
    sample text := (select quote_literal(c.embedding) || '::@extschema:vector@.halfvec' from chunk c where c.embedding is not null limit 1);
    each record;
    before jsonb;
    line text;
begin
    for each in
        select v.index_name, replace(replace(lexichord.dense_statement(false), '$1', sample), '$2', lexichord.default_depth()::text) as statement,
               v.settings
        from lexichord.vector_index('embedding') as v
        union all
        select k.index_name, k.statement, k.settings from lexichord.keyword_plan() as k
    loop
        index_name := each.index_name;
        plan := null;
        used := false;
        if to_regclass('lexichord_data.' || index_name) is not null and each.statement is not null then
            before := (select jsonb_object_agg(s.key, coalesce(current_setting(s.key, true), '')) from jsonb_each_text(each.settings) as s);
            perform set_config(s.key, s.value, true) from jsonb_each_text(each.settings) as s;
            for line in execute 'explain ' || each.statement loop
                used := used or line ~ ('\y' || index_name || '\y');  -- a bitmap scan says it in a line of its own
                plan := coalesce(plan, substring(line from '[A-Z][A-Za-z ]+Scan.* on (?:chunk|keyword|block_maximum|keyword_part_\d+)\y'));
            end loop;
            perform pg_catalog.set_config(s.key, s.value, true) from pg_catalog.jsonb_each_text(before) as s;
        end if;
        return next;
    end loop;
end $$;
comment on function lexichord.index_use() is
'Whether the statements of dense_candidates and keyword_proposals use their indexes, with how EXPLAIN says the chunks are read; plan null = no index yet. Readers may call it.';
