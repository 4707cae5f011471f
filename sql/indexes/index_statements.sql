-- EXPLAIN takes no parameters, so a stored vector stands in as a literal, and keyword_plan has its own.
create or replace function lexichord.index_statements() returns table (index_name text, statement text, settings jsonb)
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select v.index_name, replace(replace(lexichord.dense_statement(false), '$1', s.vector), '$2', lexichord.default_depth()::text), v.settings
    from lexichord.vector_index('embedding') as v
    left join (select quote_literal(c.embedding) || '::@extschema:vector@.halfvec' as vector from chunk c where c.embedding is not null limit 1) as s on true
    union all
    select k.index_name, k.statement, k.settings from lexichord.keyword_plan() as k
$$;
comment on function lexichord.index_statements() is
'The statements of dense_candidates and keyword_proposals as index_use explains them, with the index that each is to use, under which settings; statement null = there is nothing to explain yet. Internal. Readers may call it.';
