-- terms = what lexeme_vector gives. The inner order is ascending by the bare operator, the only one that the
-- index knows; score 0 is cut outside, because a plan without the index ranks every row. $1 = documents. It runs with
-- vchord_bm25's schema on the search path, see term_candidates: so each operator in it has arguments of exactly its own types.
create or replace function lexichord.keyword_statement(terms text, depth integer, scoped boolean) returns text
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
    select format($statement$
        select c.id, c.document_id, row_number() over (order by c.distance, c.id), -(c.distance::float8)
        from (select id, document_id, keyword_vector operator(pg_catalog.<&>) @extschema:vchord_bm25@.to_bm25query(
                         'lexichord_data.chunk_keyword'::regclass, %L::@extschema:vchord_bm25@.bm25vector) as distance
              from lexichord_data.chunk %s order by distance limit %s) as c
        where c.distance < 0::real
        $statement$, terms, case when scoped then 'where document_id = any($1)' end, depth)
$$;
comment on function lexichord.keyword_statement(text, integer, boolean) is
'The statement that keyword_candidates runs and that index_use explains.';
