create or replace function lexichord.vechord_chunks(namespace text, chunk_table text, keys text[])
returns table (key text, content text, context text, metadata jsonb, embedding real[], digest bytea)
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
    t record;
begin
    select * into strict t from lexichord.vechord_tables(namespace) as v where v.table_name = chunk_table;
    return query execute format(
        'select d.%1$I::text, c.%2$I::text, %3$s::text, (select to_jsonb(r) from (select %4$s) as r), c.%5$I::real[],
                sha256(convert_to((select to_jsonb(r) from (select %11$s) as r)::text, ''UTF8'')
                       || coalesce(@extschema:vector@.vector_send(c.%5$I), ''''))
         from %6$s as d join %7$s as c on c.%8$I = d.%1$I
         where d.%1$I = any($1::%9$s[]) order by d.%1$I, %10$s',
        t.key_column, t.text_column, coalesce('c.' || quote_ident(t.context_column), 'null'),
        lexichord.column_list('c', t.metadata_columns), t.vector_column, t.document_table, chunk_table,
        t.reference_column, t.key_type, lexichord.column_list('c', t.order_columns),
        lexichord.column_list('c', array_remove(array[t.text_column, t.context_column] || t.metadata_columns, null)))
    using keys;
end $$;
comment on function lexichord.vechord_chunks(text, text, text[]) is
'The chunks of some documents of a vechord namespace, in their order, with their vectors and a digest of each.';
