-- Only building packs the keyword index: later rows wait in a part of it that every query reads whole. So an
-- empty table has no index, and a load is followed by a build.
create or replace function lexichord.outgrown_indexes() returns table (index_name text, reason text)
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select i.name, case
        when to_regclass('lexichord_data.' || i.name) is null then 'is missing'
        else format('was built for %s chunks, there are %s, %s of them new', coalesce(b.chunks, 0), n.chunk_count, newer.chunks) end
    from (values ('chunk_dense'), ('chunk_keyword')) as i (name)
         left join index_build b on b.index_name = i.name
         cross join corpus n
         cross join lateral (select count(*) from chunk c where c.id > coalesce(b.last_chunk, 0)) as newer (chunks)
    where n.chunk_count > 0
      and (to_regclass('lexichord_data.' || i.name) is null
           or i.name = 'chunk_dense' and n.chunk_count >= 50000 and n.chunk_count > 2 * coalesce(b.chunks, 0)
           or i.name = 'chunk_keyword' and newer.chunks > lexichord_data.tolerable_unpacked(coalesce(b.chunks, 0)))
$$;
comment on function lexichord.outgrown_indexes() is
'The indexes that build_indexes would build: those that are missing, and those that fit the table no longer.';
