create or replace function lexichord.rebuild_indexes() returns boolean
language sql set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select lexichord.make_indexes(anew => exists (select from chunk))
$$;
comment on function lexichord.rebuild_indexes() is
'Builds both indexes anew, with what fits the tables as they are now; writers wait, searches go on. Returns whether there are chunks.';
