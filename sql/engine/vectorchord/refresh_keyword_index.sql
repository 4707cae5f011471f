create or replace function lexichord.refresh_keyword_index() returns boolean
language sql set search_path = pg_catalog, pg_temp as $$
    select false
$$;
comment on function lexichord.refresh_keyword_index() is
'Builds the keyword index again if a restart loses rows of it, which none does on this engine. Returns whether it did.';
