create or replace function lexichord.seal_keywords() returns boolean
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
    select false
$$;
comment on function lexichord.seal_keywords() is
'Nothing: this engine''s keyword index takes chunks as they come.';
