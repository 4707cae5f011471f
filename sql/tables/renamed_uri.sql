create or replace function lexichord.renamed_uri(made lexichord_data.indexed_table) returns text
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select string_agg(case when p.place % 2 = 1 then p.part
                           else '{' || coalesce((lexichord_data.current_columns(made, array[p.part]))[1], p.part) || '}' end, '' order by p.place)
    from regexp_split_to_table(made.uri, '[{}]') with ordinality as p (part, place)
$$;
comment on function lexichord.renamed_uri(lexichord_data.indexed_table) is 'A table''s template of uris, with the names that its columns have by now. Internal.';
