create or replace function lexichord.outgrown_indexes() returns table (index_name text, reason text)
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select 'chunk_dense', case
        when to_regclass('lexichord_data.chunk_dense') is null then 'is missing'
        else format('was built for %s chunks, there are %s', coalesce(b.chunks, 0), n.chunk_count) end
    from corpus_statistics n left join index_build b on b.index_name = 'chunk_dense'
    where n.chunk_count > 0
      and (to_regclass('lexichord_data.chunk_dense') is null
           or n.chunk_count >= 50000 and n.chunk_count > 2 * coalesce(b.chunks, 0))
    union all
    select u.index_name, u.reason from lexichord.unsealed_keywords() as u
$$;
comment on function lexichord.outgrown_indexes() is
'The indexes that build_indexes would build: those that are missing, and those that fit the table no longer.';
