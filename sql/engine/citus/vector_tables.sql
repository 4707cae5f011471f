create or replace function lexichord.vector_tables() returns text[]
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
    select '{chunk,chunk_vector}'::text[]
$$;
comment on function lexichord.vector_tables() is
'The tables that have a column for vectors of each space. Internal. Readers may call it.';
