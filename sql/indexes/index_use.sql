create or replace function lexichord.index_use() returns table (index_name text, used boolean, plan text)
language sql set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select i.index_name, e.used, e.plan
    from lexichord.index_statements() as i, lexichord.explain_use(i.index_name, i.statement, i.settings) as e
$$;
comment on function lexichord.index_use() is
'Whether the statements of dense_candidates and keyword_proposals use their indexes, with how EXPLAIN says the chunks are read; plan null = no index yet. Readers may call it.';
