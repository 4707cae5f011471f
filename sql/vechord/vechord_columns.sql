-- The classes are their users' own, so names and types tell what a column is for. vechord knows no schemas.
create or replace function lexichord.vechord_columns(namespace text) returns table (
    relation oid, table_name text, class text, name text, role text, dimension integer)
language sql stable set search_path = pg_catalog, pg_temp as $$
    select c.oid, format('%I.%I', n.nspname, c.relname), substr(c.relname, length(namespace) + 2), a.attname::text,
           case when t.oid = '@extschema:vector@.vector'::regtype and a.atttypmod > 0 then 'vector'
                when a.attname in ('text', 'content') and t.typcategory = 'S' then 'text'
                when a.attname in ('context', 'title') and t.typcategory = 'S' then a.attname::text
                when a.attname in ('index', 'ordinal', 'position', 'seq', 'seq_id', 'chunk_index')
                     and t.typname in ('int2', 'int4', 'int8') then 'order'
                when t.typcategory in ('B', 'D', 'E', 'N', 'S', 'T') or t.typname in ('uuid', 'json', 'jsonb') then 'scalar'
                else 'other' end,
           case when t.oid = '@extschema:vector@.vector'::regtype then nullif(a.atttypmod, -1) end
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    join pg_type t on t.oid = a.atttypid
    where c.relkind in ('r', 'p') and starts_with(c.relname, namespace || '_')
      and n.nspname not in ('lexichord', 'lexichord_data', 'information_schema') and n.nspname !~ '^pg_'
$$;
comment on function lexichord.vechord_columns(text) is
'The columns of the tables {namespace}_{class}, and what each may be for. Internal.';
