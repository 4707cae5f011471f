create or replace function lexichord.keyword_plan() returns table (index_name text, statement text, settings jsonb)
language sql stable rows 1 set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select 'block_maximum_pkey', case when exists (select from keyword_segment) then replace(replace(lexichord.bound_statement(),
               '$1', quote_literal(array(select s.number from keyword_segment s where not s.superseded)) || '::integer[]'),
               '$2', coalesce((select quote_literal(quote_literal(t.lexeme) || ':1') from term t order by t.id limit 1), 'null') || '::tsvector') end,
           '{"enable_seqscan": "off", "enable_bitmapscan": "off", "enable_sort": "off"}'::jsonb
$$;
comment on function lexichord.keyword_plan() is
'What index_use explains of keyword_proposals, under which settings; statement null = there is no index. Internal. Readers may call it.';
