-- The one place where a row becomes a document. `keys` is an expression that the statement is made with.
create or replace function lexichord.rows_statement(made lexichord_data.indexed_table, keys text) returns text
language plpgsql stable set search_path = pg_catalog, lexichord_data, pg_temp set standard_conforming_strings = on as $$
declare
    key text[] := lexichord_data.current_columns(made, made.key);
    metadata text := (select string_agg(format('%L, a.%I', c.name, c.name), ', ') from unnest(lexichord_data.current_columns(made, made.metadata)) as c (name));
    uri text := (select string_agg(case when p.place % 2 = 1 then quote_literal(p.part) else format('coalesce(a.%I::text, '''')', p.part) end, ' || ' order by p.place)
                 from regexp_split_to_table(lexichord.renamed_uri(made), '[{}]') with ordinality as p (part, place));
begin
    return format(
        'select k.key, %s as uri, %s as title, %s as content, %s as context, %s as metadata from unnest(%s) as k (key) join %s as a on (%s) = (%s) where (%s) is true',
        coalesce(uri, format('%L || k.key', made.name || '/')),
        coalesce(lexichord.joined_columns(lexichord_data.current_columns(made, array_remove(array[made.title], null)), ' '), ''''''),
        lexichord.joined_columns(lexichord_data.current_columns(made, made.content), E'\n\n'),
        coalesce(lexichord.joined_columns(lexichord_data.current_columns(made, made.context), E'\n'), ''''''),
        coalesce('jsonb_build_object(' || metadata || ')', '''{}''::jsonb'), keys, made.relation,
        lexichord_data.row_columns(key, 'a'), lexichord_data.key_values(made.relation, key, 'k.key'), coalesce(made.filter, 'true'));
end $$;
comment on function lexichord.rows_statement(lexichord_data.indexed_table, text) is 'The statement that reads rows of an indexed table by their keys, as documents. Internal.';
