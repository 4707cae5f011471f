create or replace function lexichord.outgrown_indexes() returns table (index_name text, reason text)
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select w.index_name, w.reason from lexichord.wanted_indexes() as w where w.reason is not null
    union all
    select u.index_name, u.reason from lexichord.unsealed_keywords() as u
$$;
comment on function lexichord.outgrown_indexes() is
'The indexes that build_indexes would build: those that are missing, and those that fit the table no longer. Readers may call it.';
