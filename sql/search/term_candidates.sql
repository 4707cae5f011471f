create or replace function lexichord.term_candidates(
    terms tsvector, depth integer default lexichord.default_depth(), documents bigint[] default null
) returns table (chunk_id bigint, document_id bigint, rank bigint, score double precision)
language plpgsql stable rows 100
set search_path = pg_catalog, lexichord_data, pg_temp as $$
begin
    if coalesce(length(terms), 0) = 0 then
        return;
    end if;
    -- Never as for less than 100: by 20 * 10 of 3,800 chunks a list of 10 lost 38 of 160,166 clear hits.
    return query select * from lexichord.exact_term_candidates(terms, depth, documents,
        lexichord.proposed_chunks(terms, greatest(depth, 100), documents));
end $$;
comment on function lexichord.term_candidates(tsvector, integer, bigint[]) is
'As keyword_candidates, by lexemes that are taken as they are; a lexeme counts as often as it has positions. Internal. Readers may call it.';
