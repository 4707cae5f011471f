create or replace function lexichord.lexeme_count(lexemes tsvector) returns bigint
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
    select coalesce(sum(cardinality(u.positions)), 0)::bigint from unnest(lexemes) as u
$$;
comment on function lexichord.lexeme_count(tsvector) is 'How many words a text has, by its lexemes. Internal.';
