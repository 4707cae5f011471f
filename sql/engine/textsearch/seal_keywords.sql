create or replace function lexichord.seal_keywords(most bigint default null) returns boolean
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
    select false
$$;
comment on function lexichord.seal_keywords(bigint) is
'Nothing: this engine''s keyword index takes chunks as they come.';
