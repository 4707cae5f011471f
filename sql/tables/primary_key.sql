create or replace function lexichord.primary_key(source regclass) returns text[]
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
    columns text[] := (
        select array_agg(a.attname::text order by k.place)
        from pg_index i, unnest(i.indkey::smallint[]) with ordinality as k (number, place)
        join pg_attribute a on a.attnum = k.number
        where i.indrelid = source and i.indisprimary and a.attrelid = source and k.place <= i.indnkeyatts);
begin
    if columns is null then
        raise exception 'table % has no primary key', source using errcode = 'invalid_table_definition',
            hint = 'Add one, or name columns that are unique and not null: key => ''{a,b}''.';
    end if;
    return columns;
end $$;
comment on function lexichord.primary_key(regclass) is 'The columns of a table''s primary key; an error if it has none. Internal.';
