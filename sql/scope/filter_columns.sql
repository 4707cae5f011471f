-- Postgres itself says which columns a condition reads: a view of it depends on them.
create or replace function lexichord.filter_columns(source regclass, filter text) returns text[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
    columns text[];
begin
    if filter is null then
        return '{}';
    end if;
    begin
        execute format('create temporary view lexichord_filter as select true as kept from %s where (%s)', source, filter);
    exception when others then
        raise exception 'filter: %', sqlerrm using errcode = sqlstate, hint = 'It is an SQL condition on columns of the table.';
    end;
    select coalesce(array_agg(distinct a.attname::text), '{}') into columns
    from pg_rewrite r join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = r.oid
    join pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
    where r.ev_class = 'pg_temp.lexichord_filter'::regclass and d.refobjid = source and d.refobjsubid > 0;
    drop view lexichord_filter;  -- Citus knows no pg_temp
    return columns;
end $$;
comment on function lexichord.filter_columns(regclass, text) is 'The columns of a table that an SQL condition reads; an error if it is none. Internal.';
