-- The border is measured: scripts/bench_search.py --borders.
create or replace function lexichord.is_narrow(documents bigint[]) returns boolean
language sql stable set search_path = pg_catalog, pg_temp as $$
    select count(*) <= 1000
    from (select from lexichord_data.chunk c where c.document_id = any(documents) limit 1001) as counted
$$;
comment on function lexichord.is_narrow(bigint[]) is
'Whether the documents hold so few chunks that scoring each is faster than an index.';
