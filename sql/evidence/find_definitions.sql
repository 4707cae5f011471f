-- What is defined is written between quotes or brackets where it is, in every language: "Term" means …, long form (LF).
create or replace function lexichord.find_definitions(
    terms text[],
    datasets text[] default null, documents bigint[] default null, uri_prefix text default null, filter jsonb default null
) returns table (term text, chunk_id bigint, before text, after text)
language plpgsql stable rows 10
set search_path = pg_catalog, lexichord_data, pg_temp set standard_conforming_strings = on as $$
declare
    scope bigint[] := lexichord.scope_documents(datasets, documents, uri_prefix, filter);
begin
    return query
    select w.term, f.chunk_id, right(m[1], 120), left(m[2], 200)
    from unnest(terms) with ordinality as w (term, place),
    lateral (
        select k.chunk_id, k.rank from lexichord.keyword_candidates(w.term, 20, scope) as k
        -- A term of an unknown word is defined nowhere.
        where exists (select from unnest(lexichord.text_configs(scope)) as t (config)
                      where not exists (select from unnest(tsvector_to_array(lexichord.word_lexemes(w.term, t.config))) as l (lexeme)
                                        where not exists (select from term_statistics t where t.lexeme = l.lexeme collate "C" and t.df > 0)))
    ) as f
    join chunk c on c.id = f.chunk_id,
    lateral regexp_matches(c.content,
        '^(.*?)[("“„«‘]' || regexp_replace(w.term, '([^[:alnum:][:space:]])', '\\\1', 'g') || '[)"”“»’](.*)$', 'i') as m
    order by w.place, f.rank, f.chunk_id;
end $$;
comment on function lexichord.find_definitions(text[], text[], bigint[], text, jsonb) is
'Where documents write one of the terms between quotes or brackets, as definitions do, in the 20 best chunks for each: up to 120 characters before it and 200 after it. Readers may call it.';
