create or replace function lexichord.drop_other_index() returns void
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp set client_min_messages = warning as $$
declare
    other text := (select o.index_name || '_other' from lexichord.vector_index('other_embedding') as o);
begin
    execute format('drop index if exists %I', other);
    delete from index_build b where b.index_name = other;
end $$;
comment on function lexichord.drop_other_index() is 'The part of drop_other that concerns the vector index. Internal.';
