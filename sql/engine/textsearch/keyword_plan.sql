create or replace function lexichord.keyword_plan() returns table (index_name text, statement text, settings jsonb)
language sql stable rows 1 set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select 'keyword_bm25', lexichord.keyword_statement((select t.lexeme from term t order by t.id limit 1), 200, false),
           jsonb_build_object('enable_seqscan', 'off', 'enable_sort', 'off', 'search_path', 'pg_catalog, @extschema:pg_textsearch@, pg_temp')
$$;
comment on function lexichord.keyword_plan() is
'What index_use explains of keyword_proposals, under which settings; statement null = there is no index. Internal. Readers may call it.';
