-- A function's columns are fixed before it is called, so rows come as values of their table's type, which `source` says.
-- Hits are joined with the table as the caller: what row-level security hides, or is gone by now, is none.
create or replace function lexichord.search_table(
    source anyelement, query text, query_vector @extschema:vector@.halfvec default null, k integer default lexichord.default_k(),
    depth integer default lexichord.default_depth(), condition text default null, fusion text default lexichord.default_fusion(),
    weights double precision[] default lexichord.default_weights(), query_space text default null
) returns table (item anyelement, rank bigint, score double precision, heading text, content text, chunk_id bigint, document_id bigint)
language plpgsql stable rows 10 set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    source_table regclass := (select t.typrelid::regclass from pg_type t where t.oid = pg_typeof(source) and t.typrelid <> 0);
    made lexichord_data.indexed_table;
    key text[];
    scope bigint[];
begin
    if source_table is null then
        raise exception 'source: write null::table, as in null::public.article' using errcode = 'invalid_parameter_value';
    end if;
    perform lexichord.check_search(query, query_vector, query_space, k, depth, fusion, weights);
    select * into strict made from indexed_table t where t.id = lexichord.find_indexed_table(source_table);
    key := lexichord_data.current_columns(made, made.key);
    if condition is not null or row_security_active(source_table) then
        scope := lexichord.documents_of_rows(made, condition);
    end if;
    return query execute format(
        'select a, row_number() over (order by h.score desc, h.chunk_id), h.score, h.heading, h.content, h.chunk_id, h.document_id from ('
        'select f.*, row_number() over (partition by f.document_id order by f.score desc, f.chunk_id) as place '
        'from lexichord.hybrid_search($1, $2, k => $3, depth => $3, datasets => $4, documents => $5, fusion => $6, weights => $7, query_space => $8) as f'
        ') as h join lexichord_data.table_row as r on r.document_id = h.document_id join %s as a on (%s) = (%s) '
        'where h.place = 1 order by h.score desc, h.chunk_id limit $9',
        source_table, lexichord_data.row_columns(key, 'a'), lexichord_data.key_values(source_table, key, 'r.key'))
        using query, query_vector, depth, array[made.dataset], scope, fusion, weights, query_space, k;
end $$;
comment on function lexichord.search_table(anyelement, text, @extschema:vector@.halfvec, integer, integer, text, text, double precision[], text) is
'The k rows of an indexed table that a query is about, each with its best chunk: select (h.item).*, h.score, h.content from lexichord.search_table(null::public.article, ''late delivery'') as h. condition = SQL on the table''s own columns. Rows that the caller may not see are none. Readers may call it.';
