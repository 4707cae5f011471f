create or replace function lexichord.unsealed_keywords() returns table (index_name text, reason text)
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
    select null::text, null::text where false
$$;
comment on function lexichord.unsealed_keywords() is
'Nothing: this engine''s keyword index takes chunks as they come. Internal. Readers may call it.';
