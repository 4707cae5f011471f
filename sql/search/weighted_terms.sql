-- 255: so many positions of one lexeme a tsvector holds.
create or replace function lexichord.weighted_terms(terms jsonb) returns tsvector
language plpgsql immutable strict parallel safe set search_path = pg_catalog, pg_temp set standard_conforming_strings = on as $$
declare
    wrong text;
begin
    if jsonb_typeof(terms) <> 'object' then
        raise exception 'terms must be an object, lexeme to times' using errcode = 'invalid_parameter_value';
    end if;
    select string_agg(quote_literal(t.key), ', ') into wrong
    from jsonb_each_text(terms) as t where t.key = '' or t.value is null or t.value !~ '^[0-9]{1,3}$' or t.value::integer not between 1 and 255;
    if wrong is not null then
        raise exception 'a lexeme has text and counts 1 to 255 times: %', wrong using errcode = 'invalid_parameter_value';
    end if;
    return (select coalesce(string_agg(format('''%s'':%s', replace(replace(t.key, '\', '\\'), '''', ''''''),
                (select string_agg(n::text, ',') from generate_series(1, t.value::integer) as n)), ' '), '')::tsvector
            from jsonb_each_text(terms) as t);
end $$;
comment on function lexichord.weighted_terms(jsonb) is
'An object, lexeme to times, as the tsvector that term_candidates takes: each lexeme with as many positions. Internal. Readers may call it.';
