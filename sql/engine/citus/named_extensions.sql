-- A schema's name stands here as the functions' own texts have it: quoted where need be.
create or replace function lexichord.named_extensions() returns table (extension text, named_schema text)
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
    values ('vector', '@extschema:vector@'), ('citus', 'pg_catalog')
$$;
comment on function lexichord.named_extensions() is
'The extensions whose objects the functions name, with the schema in which init found each. Internal. Readers may call it.';
