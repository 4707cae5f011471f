create or replace function lexichord.chunk_room(depth integer, scope bigint[] default null) returns bigint
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select case when scope is null then (select count(*) from (select from chunk limit depth) as c)
           else (select count(*) from (select from chunk c where c.document_id = any(scope) limit depth) as c) end
$$;
comment on function lexichord.chunk_room(integer, bigint[]) is 'How many chunks a list can have: those in scope, up to the depth. Internal. Readers may call it.';
