create or replace function lexichord.term_candidates(
    terms tsvector, depth integer default lexichord.default_depth(), documents bigint[] default null
) returns table (chunk_id bigint, document_id bigint, rank bigint, score double precision)
language plpgsql stable rows 100
set search_path = pg_catalog, lexichord_data, pg_temp
-- All end with the function. The first is set again below; without sorting, the index is the only way.
-- Never the prefilter: it reads deleted rows, too, and where a vacuum has cut off the table's end, or whatever else
-- goes wrong in it, the whole server goes down (vchord_bm25 0.3.0).
set bm25_catalog.bm25_limit = 1000 set bm25_catalog.enable_prefilter = off set bm25_catalog.enable_index = on
set enable_sort = off set jit = off as $$
declare
    vector text := lexichord_data.lexeme_vector(terms);
    places bigint;
    row_limit integer;
    path text := current_setting('search_path');
    statement text := format('select pg_catalog.array_agg(c.id), pg_catalog.array_agg(c.document_id),
                                     pg_catalog.array_agg(c.rank), pg_catalog.array_agg(c.score)
                              from (%s) as c (id, document_id, rank, score)',
                             lexichord.keyword_statement(vector, depth, documents is not null));
    chunks bigint[];
    owners bigint[];
    ranks bigint[];
    scores double precision[];
begin
    if vector is null then
        return;
    end if;
    if documents is not null and lexichord.is_narrow(documents)
       or to_regclass('lexichord_data.chunk_keyword') is null then
        return query select * from lexichord.exact_term_candidates(terms, depth, documents);
        return;
    end if;
    perform lexichord.check_keyword_index();
    -- bm25_limit caps what leaves the index; deleted rows and those out of scope take places. So first as many as fill
    -- the depth if matches are spread evenly, and with room to spare, then all (-1) if that was too little. At 100k chunks
    -- 200 take 4.6 ms, 1,000 take 7, 10,000 take 16, all 39 ms, or .3 where only 50 match.
    select case when documents is null then 2::bigint * depth else 3::bigint * depth * n.document_count / cardinality(documents) end
    into places from corpus n;
    foreach row_limit in array array[case when places <= 65535 then places else -1 end, -1] loop
        -- vchord_bm25 looks its own types up by the search path.
        perform set_config('bm25_catalog.bm25_limit', row_limit::text, true),
                set_config('search_path', 'pg_catalog, @extschema:vchord_bm25@, pg_temp', true);
        execute statement into chunks, owners, ranks, scores using documents;
        perform pg_catalog.set_config('search_path', path, true);
        exit when cardinality(chunks) >= depth or row_limit = -1;
    end loop;
    return query select * from unnest(chunks, owners, ranks, scores);
end $$;
comment on function lexichord.term_candidates(tsvector, integer, bigint[]) is
'As keyword_candidates, by lexemes that are taken as they are; a lexeme counts as often as it has positions.';
