create or replace function lexichord.swap_indexes() returns void
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp set client_min_messages = warning as $$
declare
    name text := (select o.index_name from lexichord.vector_index('other_embedding') as o);
begin
    execute format('alter index if exists %I rename to %I', name, name || '_swapped');
    execute format('alter index if exists %I rename to %I', name || '_other', name);
    execute format('alter index if exists %I rename to %I', name || '_swapped', name || '_other');
    update index_build b set index_name = name || '_swapped' where b.index_name = name;
    update index_build b set index_name = name where b.index_name = name || '_other';
    if not found then  -- it was built just now
        insert into index_build (index_name, chunks, last_chunk)
        select name, n.chunk_count, (select coalesce(max(c.id), 0) from chunk c) from corpus_statistics n;
    end if;
    update index_build b set index_name = name || '_other' where b.index_name = name || '_swapped';
end $$;
comment on function lexichord.swap_indexes() is 'The part of swap_spaces that concerns the vector indexes. Internal.';
