-- 100k chunks, keyword channel, exact / filtered index scan: 1,340 chunks 7 / 59 ms, 2,925 18 / 27,
-- 9,614 60 / 16. To score each takes time by its number n, while an index passes over depth × all / n chunks to find as many
-- in scope: so both take as long where n² is as many times all, 160 by these figures.
create or replace function lexichord.is_narrow(documents bigint[]) returns boolean
language plpgsql stable set search_path = pg_catalog, lexichord_data, pg_temp set plan_cache_mode = force_generic_plan as $$
declare
    most integer := greatest(3000, sqrt(160 * (select c.chunk_count from corpus c)));
begin
    return (select count(*) <= most from (select from chunk c where c.document_id = any(documents) limit most + 1) as counted);
end $$;
comment on function lexichord.is_narrow(bigint[]) is
'Whether the documents hold so few chunks that scoring each is faster than an index. Internal. Readers may call it.';
