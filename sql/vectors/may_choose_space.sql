-- What is asked before a model is looked for, which takes far longer.
create or replace function lexichord.may_choose_space() returns boolean
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select s.is_default and not exists (select from chunk) from embedding_space s
$$;
comment on function lexichord.may_choose_space() is
'Whether nobody named the database''s space, and no chunk binds it to one.';
