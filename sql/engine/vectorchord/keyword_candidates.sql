create or replace function lexichord.keyword_candidates(
    query text, depth integer default 100, documents bigint[] default null
) returns table (chunk_id bigint, document_id bigint, rank bigint, score double precision)
language plpgsql stable rows 100
-- bm25_catalog, because the operator looks its own type up by the bare name.
set search_path = lexichord_data, public, bm25_catalog, pg_catalog, pg_temp
-- All end with the function. The first is set again below; without sorting, the index is the only way.
set bm25_catalog.bm25_limit = 1000 set enable_sort = off set jit = off as $$
declare
    terms text := lexichord_data.lexeme_vector(lexichord.lexemes(query));
    most constant integer := 65535;
    row_limit integer;
    chunks bigint[];
    owners bigint[];
    ranks bigint[];
    scores double precision[];
begin
    if terms is null then
        return;
    end if;
    if documents is not null and lexichord.is_narrow(documents) or depth > most
       or to_regclass('lexichord_data.chunk_keyword') is null then
        return query select * from lexichord.exact_keyword_candidates(query, depth, documents);
        return;
    end if;
    -- bm25_limit caps what leaves the index, and of the rows since it was built also those that are deleted
    -- or out of scope count: hence more than the depth, and the most there is when that was too little.
    foreach row_limit in array array[least(greatest(2 * depth, 1000), most), most] loop
        perform set_config('bm25_catalog.bm25_limit', row_limit::text, true);
        execute format('select array_agg(c.id), array_agg(c.document_id), array_agg(c.rank), array_agg(c.score)
                        from (%s) as c (id, document_id, rank, score)',
                       lexichord.keyword_statement(terms, depth, documents is not null))
        into chunks, owners, ranks, scores using documents;
        exit when documents is not null or cardinality(chunks) >= depth;
    end loop;
    if documents is not null and coalesce(cardinality(chunks), 0) < depth then
        return query select * from lexichord.exact_keyword_candidates(query, depth, documents);
    else
        return query select * from unnest(chunks, owners, ranks, scores);
    end if;
end $$;
comment on function lexichord.keyword_candidates(text, integer, bigint[]) is
'The depth chunks that match the query''s words best, best first; score = BM25. Chunks without any of the words are never returned. documents null = everywhere.';
