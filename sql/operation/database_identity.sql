-- Not the system identifier: a server that was restored from a backup of another has it, too.
create or replace function lexichord.database_identity() returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
    select concat_ws(' ', extract(epoch from pg_postmaster_start_time()), d.oid) from pg_database d where d.datname = current_database()
$$;
comment on function lexichord.database_identity() is
'The same for two connections = they are to the same database, whatever their addresses; until the server is started again. Readers may call it.';
