-- The terms must be a literal: as a parameter, every row that is returned is scored again
-- (17-25 ms instead of 0.5 ms at 10k rows). $1 = documents. It runs with pg_textsearch's schema on the search path,
-- see keyword_proposals: so each operator in it has arguments of exactly its own types, and no other one fits better.
create or replace function lexichord.keyword_statement(terms text, depth integer, scoped boolean) returns text
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
    select format($statement$
        select chunk_id from lexichord_data.keyword %s
        order by keyword_text operator(@extschema:pg_textsearch@.<@>) @extschema:pg_textsearch@.to_bm25query(
                     %L::text, 'lexichord_data.keyword_bm25'::text) limit %s
        $statement$, case when scoped then 'where document_id = any($1)' end, terms, depth)
$$;
comment on function lexichord.keyword_statement(text, integer, boolean) is
'The statement that keyword_proposals runs and that index_use explains. Internal. Readers may call it.';
