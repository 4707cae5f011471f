create or replace function lexichord.keyword_plan() returns table (index_name text, statement text, search_path text, free boolean)
language sql stable rows 1 set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select 'keyword_bm25', lexichord.keyword_statement((select t.lexeme from term t order by t.df desc limit 1), 200, false),
           'pg_catalog, @extschema:pg_textsearch@, pg_temp', false
$$;
comment on function lexichord.keyword_plan() is
'What index_use explains of keyword_proposals: under which search path, and whether it leaves the planner free.';
