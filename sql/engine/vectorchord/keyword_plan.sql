create or replace function lexichord.keyword_plan() returns table (index_name text, statement text, settings jsonb)
language sql stable rows 1 set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select coalesce(format('keyword_part_%s_vector_idx', s.number), 'keyword'),
           lexichord.segment_statement(s.number, '{0:1}', lexichord.default_depth()),
           jsonb_build_object('enable_sort', 'off', 'bm25_catalog.enable_index', 'on', 'search_path', 'pg_catalog, @extschema:vchord_bm25@, pg_temp')
    from (select max(s.number) as number from keyword_segment s where not s.superseded) as s
$$;
comment on function lexichord.keyword_plan() is
'What index_use explains of keyword_proposals, under which settings; statement null = there is no index. Internal. Readers may call it.';
