create or replace function lexichord.joined_columns(names text[], separator text) returns text
language sql immutable set search_path = pg_catalog, pg_temp as $$
    select format('concat_ws(%L, %s)', separator, string_agg(format('nullif(a.%I::text, '''')', u.name), ', ' order by u.place))
    from unnest(names) with ordinality as u (name, place) having count(*) > 0
$$;
comment on function lexichord.joined_columns(text[], text) is 'Columns as one text, as a part of a statement; null of none. Internal.';
