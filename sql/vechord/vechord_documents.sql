create or replace function lexichord.vechord_documents(namespace text, chunk_table text, keys text[])
returns table (key text, title text, content text, metadata jsonb, digest bytea)
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
    t record;
begin
    select * into strict t from lexichord.vechord_tables(namespace) as v where v.table_name = chunk_table;
    return query execute format(
        'select d.%I::text, %s::text, %s::text, (select to_jsonb(r) from (select %s) as r),
                sha256(convert_to((select to_jsonb(r) from (select %s) as r)::text, ''UTF8''))
         from %s as d where d.%I = any($1::%s[])',
        t.key_column, coalesce('d.' || quote_ident(t.document_title), 'null'), coalesce('d.' || quote_ident(t.document_text), 'null'),
        lexichord.column_list('d', t.document_metadata),
        lexichord.column_list('d', array_remove(array[t.key_column, t.document_title, t.document_text] || t.document_metadata, null)),
        t.document_table, t.key_column, t.key_type)
    using keys;
end $$;
comment on function lexichord.vechord_documents(text, text, text[]) is 'Documents of a vechord namespace, by their keys; digest = that of each without its chunks.';
