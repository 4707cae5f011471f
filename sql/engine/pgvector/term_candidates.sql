create or replace function lexichord.term_candidates(
    terms tsvector, depth integer default lexichord.default_depth(), documents bigint[] default null
) returns table (chunk_id bigint, document_id bigint, rank bigint, score double precision)
language plpgsql stable rows 100
set search_path = pg_catalog, lexichord_data, pg_temp
-- Leaves the BM25 index as the only way: no other plan knows the score that it hands out.
set enable_seqscan = off set enable_sort = off set jit = off as $$
declare
    words text := lexichord_data.lexeme_text(terms);
    statement text;
begin
    if coalesce(words, '') = '' then
        return;
    end if;
    if documents is not null and lexichord.is_narrow(documents)
       or to_regclass('lexichord_data.chunk_bm25') is null then
        return query select * from lexichord.exact_term_candidates(terms, depth, documents);
        return;
    end if;
    perform lexichord.check_keyword_index();
    statement := lexichord.keyword_statement(words, depth, documents is not null);
    if length(terms) = 1 then  -- pg_textsearch 0.6.1 counts a lexeme as often as it occurs, but one alone only once
        statement := format('select id, document_id, rank, score * %s::float8 from (%s) as c (id, document_id, rank, score)',
                            (select cardinality(t.positions) from unnest(terms) as t), statement);
    end if;
    -- pg_textsearch looks its own names up by the search path, and scores each row again where it does not find them.
    perform set_config('search_path', 'pg_catalog, @extschema:pg_textsearch@, pg_temp', true);  -- ends with the function
    return query execute statement using documents;
end $$;
comment on function lexichord.term_candidates(tsvector, integer, bigint[]) is
'As keyword_candidates, by lexemes that are taken as they are; a lexeme counts as often as it has positions.';
