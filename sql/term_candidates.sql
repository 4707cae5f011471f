create or replace function lexichord.term_candidates(
    terms tsvector, depth integer default lexichord.default_depth(), documents bigint[] default null
) returns table (chunk_id bigint, document_id bigint, rank bigint, score double precision)
language plpgsql stable rows 100
set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    proposals bigint[];
begin
    if coalesce(length(terms), 0) = 0 then
        return;
    end if;
    -- What an index proposes is of all tenants: few of it might be the caller's own.
    if not lexichord_data.is_bound() and (documents is null or not lexichord.is_narrow(documents)) then
        proposals := lexichord.keyword_proposals(terms, depth, documents);
    end if;
    return query select * from lexichord.exact_term_candidates(terms, depth, documents, proposals);
end $$;
comment on function lexichord.term_candidates(tsvector, integer, bigint[]) is
'As keyword_candidates, by lexemes that are taken as they are; a lexeme counts as often as it has positions.';
