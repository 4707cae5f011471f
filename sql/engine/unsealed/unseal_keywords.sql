create or replace function lexichord.unseal_keywords() returns void
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
    select
$$;
comment on function lexichord.unseal_keywords() is
'Nothing: this engine''s keyword index takes chunks as they come. Internal.';
