-- EXPLAIN takes no parameters, so a stored vector stands in as a literal, and keyword_plan has its own.
create or replace function lexichord.index_use() returns table (index_name text, used boolean, plan text)
language sql set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select each.index_name, e.used, e.plan
    from (
        select v.index_name, replace(replace(lexichord.dense_statement(false), '$1', s.vector), '$2', lexichord.default_depth()::text) as statement, v.settings
        from lexichord.vector_index('embedding') as v
        left join (select quote_literal(c.embedding) || '::@extschema:vector@.halfvec' as vector from chunk c where c.embedding is not null limit 1) as s on true
        union all
        select k.index_name, k.statement, k.settings from lexichord.keyword_plan() as k
    ) as each, lexichord.explain_use(each.index_name, each.statement, each.settings) as e
$$;
comment on function lexichord.index_use() is
'Whether the statements of dense_candidates and keyword_proposals use their indexes, with how EXPLAIN says the chunks are read; plan null = no index yet. Readers may call it.';
