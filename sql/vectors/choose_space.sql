-- The lock keeps others from storing chunks until the caller's transaction ends.
create or replace function lexichord.choose_space(provider text, model text, dimension integer) returns boolean
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
begin
    lock table chunk in share row exclusive mode;
    update embedding_space s set provider = choose_space.provider, model = choose_space.model, is_default = false
    where s.dimension = choose_space.dimension and lexichord.may_choose_space();
    return found;
end $$;
comment on function lexichord.choose_space(text, text, integer) is
'Binds a database without chunks to another space of the same dimension; false, and nothing is changed, where somebody named its space.';
