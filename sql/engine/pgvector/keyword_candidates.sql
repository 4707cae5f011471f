create or replace function lexichord.keyword_candidates(
    query text, depth integer default 100, documents bigint[] default null
) returns table (chunk_id bigint, document_id bigint, rank bigint, score double precision)
language plpgsql stable rows 100
set search_path = lexichord_data, public, pg_catalog, pg_temp
-- Leaves the BM25 index as the only way: no other plan knows the score that it hands out.
set enable_seqscan = off set enable_sort = off set jit = off as $$
declare
    terms text := lexichord_data.lexeme_text(lexichord.lexemes(query));
begin
    if coalesce(terms, '') = '' then
        return;
    end if;
    if documents is not null and lexichord.is_narrow(documents)
       or to_regclass('lexichord_data.chunk_bm25') is null then
        return query select * from lexichord.exact_keyword_candidates(query, depth, documents);
        return;
    end if;
    if lexichord.keyword_index_is_stale() then
        raise exception 'the keyword index has lost rows, because the server restarted after they were written'
            using errcode = 'object_not_in_prerequisite_state',
                  hint = 'Run: select lexichord.refresh_keyword_index();';
    end if;
    return query execute lexichord.keyword_statement(terms, depth, documents is not null) using documents;
end $$;
comment on function lexichord.keyword_candidates(text, integer, bigint[]) is
'The depth chunks that match the query''s words best, best first; score = BM25. Chunks without any of the words are never returned. documents null = everywhere.';
