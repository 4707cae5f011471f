create or replace function lexichord.file_candidates(
    query text, depth integer default lexichord.default_depth(),
    datasets text[] default null, documents bigint[] default null, uri_prefix text default null, filter jsonb default null
) returns table (document_numbers bigint[], scores double precision[], room bigint)
language plpgsql stable rows 1
set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    scope bigint[] := lexichord.scope_documents(datasets, documents, uri_prefix, filter);
begin
    room := least(depth, coalesce(cardinality(scope), (select count(*) from (select from document limit depth) as d)));
    select coalesce(array_agg(c.document_id order by c.rank), '{}'), coalesce(array_agg(c.score order by c.rank), '{}')
    into document_numbers, scores from lexichord.card_candidates(query, depth, scope) as c;
    return next;
end $$;
comment on function lexichord.file_candidates(text, integer, text[], bigint[], text, jsonb) is
'One row: the card_candidates of one shard in a scope, best first, and how many documents are in scope, up to the depth. Readers may call it.';
