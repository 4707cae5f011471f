create or replace function lexichord.id_secret() returns uuid
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select c.id_secret from configuration c
$$;
comment on function lexichord.id_secret() is
'What programs make the texts of document and chunk ids with; the same after a dump and restore. Readers may call it.';
