create or replace function lexichord.swap_indexes() returns void
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp set client_min_messages = warning as $$
begin
    alter index if exists chunk_dense rename to chunk_dense_swapped;
    alter index if exists chunk_dense_other rename to chunk_dense;
    alter index if exists chunk_dense_swapped rename to chunk_dense_other;
    update index_build set index_name = 'chunk_dense_swapped' where index_name = 'chunk_dense';
    update index_build set index_name = 'chunk_dense' where index_name = 'chunk_dense_other';
    if not found then  -- it was built just now
        insert into index_build (index_name, chunks, last_chunk)
        select 'chunk_dense', n.chunk_count, (select coalesce(max(c.id), 0) from chunk c) from corpus n;
    end if;
    update index_build set index_name = 'chunk_dense_other' where index_name = 'chunk_dense_swapped';
end $$;
comment on function lexichord.swap_indexes() is 'The part of swap_spaces that concerns the vector indexes.';
