-- The terms must be a literal: as a parameter, every row that is returned is scored again
-- (17-25 ms instead of 0.5 ms at 10k rows). $1 = documents. It runs with pg_textsearch's schema on the search path,
-- see term_candidates: so each operator in it has arguments of exactly its own types, and no other one fits better.
create or replace function lexichord.keyword_statement(terms text, depth integer, scoped boolean) returns text
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
    select format($statement$
        select c.id, c.document_id, row_number() over (order by c.score desc, c.id), c.score
        from (select id, document_id, -@extschema:pg_textsearch@.bm25_get_current_score() as score from lexichord_data.chunk %s
              order by keyword_text operator(@extschema:pg_textsearch@.<@>) @extschema:pg_textsearch@.to_bm25query(
                           %L::text, 'lexichord_data.chunk_bm25'::text) limit %s) as c
        $statement$, case when scoped then 'where document_id = any($1)' end, terms, depth)
$$;
comment on function lexichord.keyword_statement(text, integer, boolean) is
'The statement that keyword_candidates runs and that index_use explains.';
