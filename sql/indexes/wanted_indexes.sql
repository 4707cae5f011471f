-- From 50,000 chunks on an engine may make an index by how many there are: such a one is outgrown at twice as many.
create or replace function lexichord.wanted_indexes() returns table (index_name text, definition text, reason text)
language sql stable rows 2 set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select i.index_name, i.definition, case
        when to_regclass('lexichord_data.' || i.index_name) is null then 'is missing'
        when i.by_size and n.chunk_count >= 50000 and n.chunk_count > 2 * coalesce(b.chunks, 0)
        then format('was built for %s chunks, there are %s', coalesce(b.chunks, 0), n.chunk_count) end
    from corpus_statistics n, (
        select v.index_name, v.definition, v.by_size from lexichord.vector_index('embedding') as v
        union all
        select k.index_name, k.definition, false from lexichord.keyword_index() as k) as i (index_name, definition, by_size)
    left join index_build b using (index_name)
    where n.chunk_count > 0
$$;
comment on function lexichord.wanted_indexes() is
'The indexes of the engine, by what each is made and why it should be built; reason null = it is there and fits. Internal. Readers may call it.';
