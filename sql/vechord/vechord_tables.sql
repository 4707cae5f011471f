-- A foreign key may point to any unique column. Of several, the one counts that leads to a text without a vector.
create or replace function lexichord.vechord_tables(namespace text) returns table (
    table_name text, class text, dimension integer, vector_column text, text_column text, context_column text,
    order_columns text[], metadata_columns text[], reference_column text, document_table text, document_has_vector boolean,
    key_column text, key_type text, document_title text, document_text text, document_metadata text[])
language sql stable set search_path = pg_catalog, pg_temp as $$
    with tables as (
        select c.relation, c.table_name, c.class, count(*) filter (where c.role = 'vector') as vectors,
               max(c.dimension) filter (where c.role = 'vector') as dimension,
               max(c.name) filter (where c.role = 'vector') as vector_column,
               max(c.name) filter (where c.role = 'text') as text_column, -- text before content
               max(c.name) filter (where c.role = 'context') as context_column,
               max(c.name) filter (where c.role = 'title') as title_column,
               min(c.name) filter (where c.role = 'order') as order_column,
               array_agg(c.name) filter (where c.role not in ('vector', 'other')) as scalars
        from lexichord.vechord_columns(namespace) as c group by 1, 2, 3
    )
    select c.table_name, c.class, c.dimension, c.vector_column, c.text_column, c.context_column,
           coalesce(nullif(array_remove(c.order_column || k.names, null), '{}'), '{ctid}'),
           array(select s from unnest(c.scalars) as s
                 where s not in (c.text_column, coalesce(c.context_column, ''), d.reference_column)),
           d.reference_column, d.table_name, d.vectors > 0, d.key_column, d.key_type, d.title_column, d.text_column,
           array(select s from unnest(d.scalars) as s
                 where s not in (coalesce(d.text_column, ''), coalesce(d.title_column, ''), d.key_column))
    from tables c
    cross join lateral (
        select array_agg(a.attname::text order by array_position(i.indkey::int2[], a.attnum)) as names
        from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any(i.indkey)
        where i.indrelid = c.relation and i.indisprimary) as k
    left join lateral (
        select d.*, r.attname::text as reference_column, a.attname::text as key_column,
               format_type(a.atttypid, a.atttypmod) as key_type
        from pg_constraint f
        join tables d on d.relation = f.confrelid and d.relation <> c.relation
        join pg_attribute r on r.attrelid = f.conrelid and r.attnum = f.conkey[1]
        join pg_attribute a on a.attrelid = f.confrelid and a.attnum = f.confkey[1]
        where f.conrelid = c.relation and f.contype = 'f' and cardinality(f.conkey) = 1
        order by d.vectors > 0, d.text_column is null, f.conname limit 1) as d on c.vectors = 1 and c.text_column is not null
    order by c.table_name
$$;
comment on function lexichord.vechord_tables(text) is
'The tables of a vechord namespace. One with a document_table can hold chunks: it has one vector column, a text and a foreign key.';
