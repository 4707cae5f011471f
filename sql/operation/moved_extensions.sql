create or replace function lexichord.moved_extensions() returns table (extension text, named_schema text, present_schema text)
language sql stable set search_path = pg_catalog, pg_temp as $$
    select n.extension, n.named_schema, quote_ident(s.nspname)
    from lexichord.named_extensions() as n
    join pg_extension e on e.extname = n.extension
    join pg_namespace s on s.oid = e.extnamespace
    where quote_ident(s.nspname) <> n.named_schema
$$;
comment on function lexichord.moved_extensions() is
'The extensions that were moved to another schema after init; the functions fail until it runs again. Readers may call it.';
