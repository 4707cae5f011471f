-- What the type takes; the index has no limit of its own below that.
create or replace function lexichord.most_dimensions() returns integer
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
    select 16000
$$;
comment on function lexichord.most_dimensions() is 'The most dimensions that this engine''s vector index takes. Readers may call it.';
