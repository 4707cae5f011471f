-- vechord has no index on foreign keys: a page of documents costs one pass over the chunks.
create or replace function lexichord.vechord_digests(namespace text, chunk_table text, after text, batch integer)
returns table (key text, chunks bigint, sha256 text)
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
    t record;
begin
    select * into strict t from lexichord.vechord_tables(namespace) as v where v.table_name = chunk_table;
    return query execute format($query$
        with page as materialized (
            select d.%1$I as key, sha256(convert_to(to_jsonb(d)::text, 'UTF8')) as digest
            from (select %2$s from %3$s as d where d.%1$I is not null and ($1 is null or d.%1$I > $1::%4$s)
                  order by d.%1$I limit $2) as d
        )
        select p.key::text, count(c.%5$I),
               encode(sha256(p.digest || coalesce(string_agg(
                   sha256(convert_to((select to_jsonb(r) from (select %6$s) as r)::text, 'UTF8')
                          || coalesce(@extschema:vector@.vector_send(c.%7$I), '')), null order by %8$s), '')), 'hex')
        from page p left join %9$s as c on c.%5$I = p.key
        group by p.key, p.digest order by p.key $query$,
        t.key_column,
        lexichord.column_list('d', array_remove(array[t.key_column, t.document_title, t.document_text] || t.document_metadata, null)),
        t.document_table, t.key_type, t.reference_column,
        lexichord.column_list('c', array_remove(array[t.text_column, t.context_column] || t.metadata_columns, null)),
        t.vector_column, lexichord.column_list('c', t.order_columns), chunk_table)
    using after, batch;
end $$;
comment on function lexichord.vechord_digests(text, text, text, integer) is
'The next documents of a vechord namespace, by key, with a digest of each with all its chunks.';
