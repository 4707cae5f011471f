create or replace function lexichord.read_rows(table_id integer, keys text[])
returns table (key text, uri text, title text, content text, context text, metadata jsonb, sha256 text)
language plpgsql stable set search_path = pg_catalog, lexichord_data, pg_temp set timezone = 'UTC' set datestyle = 'ISO, YMD' as $$
declare
    made lexichord_data.indexed_table;
begin
    select * into strict made from indexed_table t where t.id = read_rows.table_id;
    return query execute
        'select r.*, encode(sha256(convert_to(jsonb_build_array(r.title, r.content, r.context)::text, ''UTF8'')), ''hex'') from ('
        || lexichord.rows_statement(made, '$1') || ') as r' using keys;
end $$;
comment on function lexichord.read_rows(integer, text[]) is 'The rows of an indexed table with these keys, as documents; sha256 is of what is cut and embedded.';
