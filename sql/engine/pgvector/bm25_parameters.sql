-- Of the values tried, these serve contracts and code (docs/benchmarks.md).
create or replace function lexichord.bm25_parameters() returns table (k1 double precision, b double precision)
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
    select 0.9::float8, 0.4::float8
$$;
comment on function lexichord.bm25_parameters() is
'The k1 and b with which this engine''s keyword index scores.';
