create or replace function lexichord.card_candidates(
    query text, depth integer default lexichord.default_depth(), documents bigint[] default null
) returns table (document_id bigint, rank bigint, score double precision)
language plpgsql stable rows 100
set search_path = pg_catalog, lexichord_data, pg_temp as $$
begin
    return query select * from lexichord.card_term_candidates(lexichord.query_lexemes(query, documents), depth, documents);
end $$;
comment on function lexichord.card_candidates(text, integer, bigint[]) is
'The documents whose cards (title twice, file name, first 1,500 characters) match the query''s words best. Readers may call it.';
