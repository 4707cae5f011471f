-- An identifier that nothing holds is found by its parts, and what is found then is another one; what is asked of a year
-- that nothing holds is found of others: that is said.
create or replace function lexichord.absent_identifiers(
    query text, datasets text[] default null, documents bigint[] default null, uri_prefix text default null, filter jsonb default null
) returns table (identifier text)
language plpgsql stable set search_path = pg_catalog, lexichord_data, pg_temp set standard_conforming_strings = on as $$
declare
    scope constant bigint[] := lexichord.scope_documents(datasets, documents, uri_prefix, filter);
begin
    return query
    select distinct t.token
    from (select btrim(m[1], '-_./') as token
          from regexp_matches(lexichord.split_runs(lexichord.normal_form(query)), '([-[:alnum:]_./]*[[:digit:]][-[:alnum:]_./]*)', 'g') as m) as t,
         lateral (select lexichord.join_identifier(t.token) as joined offset 0) as j
    where t.token ~ '[-_./]|[[:alpha:]]|^(19|20)[[:digit:]]{2}$' and t.token !~ '^[[:digit:].]+-?[[:lower:]]+$'  -- 90-day, 5th, 20kg
      and case when octet_length(j.joined) <= 2046  -- of a lexeme; what is longer is an encoded file
               then not exists (select from lexichord.term_candidates(lexichord.exact_lexemes(array[j.joined]), 1, scope)) end;
end $$;
comment on function lexichord.absent_identifiers(text, text[], bigint[], text, jsonb) is
'The identifiers and years of a query that no chunk in scope holds, as they are written. Readers may call it.';
