-- What one question's searches ask for is the same: whoever makes several looks its words up once. Where there are no
-- candidates to hand on they look for themselves: see propose_candidates.
create or replace function lexichord.question_terms(
    query text, datasets text[] default null, documents bigint[] default null, uri_prefix text default null, filter jsonb default null
) returns jsonb
language plpgsql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
begin
    if lexichord_data.is_bound() then
        return null;
    end if;
    return (
        select coalesce(jsonb_object_agg(u.lexeme, least(cardinality(u.positions), 255)), '{}')
        from unnest(lexichord.query_lexemes(query, lexichord.scope_documents(datasets, documents, uri_prefix, filter))) as u);
end $$;
comment on function lexichord.question_terms(text, text[], bigint[], text, jsonb) is
'What a question asks for in a scope: {"lexeme": times}, as the searches that take terms have them. Null for a tenant. Readers may call it.';
