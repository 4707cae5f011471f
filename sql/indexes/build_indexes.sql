create or replace function lexichord.build_indexes() returns boolean
language sql set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select lexichord.make_indexes(anew => false)
$$;
comment on function lexichord.build_indexes() is
'Builds the vector and the keyword index, once there are chunks; returns whether there was something to build.';
