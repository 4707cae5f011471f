-- 100k chunks, keyword channel, exact / filtered index scan: 1,340 chunks 7 / 59 ms, 2,925 18 / 27,
-- 9,614 60 / 16.
create or replace function lexichord.is_narrow(documents bigint[]) returns boolean
language sql stable set search_path = pg_catalog, pg_temp as $$
    select count(*) <= 3000
    from (select from lexichord_data.chunk c where c.document_id = any(documents) limit 3001) as counted
$$;
comment on function lexichord.is_narrow(bigint[]) is
'Whether the documents hold so few chunks that scoring each is faster than an index.';
