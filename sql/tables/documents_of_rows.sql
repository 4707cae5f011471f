create or replace function lexichord.documents_of_rows(made lexichord_data.indexed_table, condition text) returns bigint[]
language plpgsql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    name text := (select c.relname from pg_class c where c.oid = made.relation);
    found_documents bigint[];
begin
    -- `wanted` by itself: a name in the condition that the table lacks must not find a column of ours.
    execute format(
        'with wanted as (select %s as key from %s as %I where (%s)) '
        'select array_agg(r.document_id order by r.document_id) from wanted w join lexichord_data.table_row r on r.key = w.key where r.table_id = $1',
        lexichord_data.key_expression(made.relation, lexichord_data.current_columns(made, made.key), quote_ident(name)),
        made.relation, name, coalesce(condition, 'true')) into found_documents using made.id;
    return coalesce(found_documents, '{}');
end $$;
comment on function lexichord.documents_of_rows(lexichord_data.indexed_table, text) is
'The documents of an indexed table''s rows that the caller may see and for which an SQL condition holds. Internal. Readers may call it.';
