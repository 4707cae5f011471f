-- Volatile, for a snapshot of its own, and locked first: until the caller's transaction ends, `embedding` is the column
-- of the space that is given here. The caller's statement may have begun before a swap.
create or replace function lexichord.bound_space(out space text, out dimension integer)
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
begin
    lock table chunk in access share mode;
    select concat_ws('/', s.provider, s.model, s.dimension), s.dimension into space, dimension from embedding_space s;
end $$;
comment on function lexichord.bound_space() is
'The space that the database is bound to; it stays so until the transaction ends. Readers may call it.';
