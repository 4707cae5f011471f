create or replace function lexichord.column_list(alias text, columns text[]) returns text
language sql immutable set search_path = pg_catalog, pg_temp as $$
    select coalesce(string_agg(format('%s.%I', alias, name), ', ' order by place), '')
    from unnest(columns) with ordinality as c (name, place)
$$;
comment on function lexichord.column_list(text, text[]) is 'Columns as a part of a statement, quoted. Internal.';
