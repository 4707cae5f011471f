create or replace function lexichord.drop_other_index() returns void
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp set client_min_messages = warning as $$
begin
    execute format('drop index if exists %I', (select o.index_name || '_other' from lexichord.other_index() as o));
end $$;
comment on function lexichord.drop_other_index() is 'The part of drop_other that concerns the vector index.';
