-- A key's column out of its text, of its type without a length: `character` by itself is one letter.
create or replace function lexichord_data.key_values(relation regclass, names text[], key text) returns text
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select string_agg(format('(%s)::%s',
               case when cardinality(names) = 1 then key else format('%s::jsonb ->> %s', key, u.place - 1) end,
               format_type(lexichord_data.key_type(relation, u.name), -1)), ', ' order by u.place)
    from unnest(names) with ordinality as u (name, place)
$$;

-- to_char has no text for infinity, and the same for years before and after Christ.
create or replace function lexichord_data.key_expression(relation regclass, names text[], row_name text) returns text
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    with part as (
        select u.place, format(case lexichord_data.key_type(relation, u.name)
            when 'timestamptz'::regtype then 'coalesce(to_char(%1$s at time zone ''UTC'', ''YYYY-MM-DD"T"HH24:MI:SS.US"Z"'' || case when %1$s at time zone ''UTC'' < ''0001-01-01'' then '' BC'' else '''' end), %1$s::text)'
            when 'timestamp'::regtype then 'coalesce(to_char(%1$s, ''YYYY-MM-DD"T"HH24:MI:SS.US'' || case when %1$s < ''0001-01-01'' then '' BC'' else '''' end), %1$s::text)'
            when 'date'::regtype then 'coalesce(to_char(%1$s, ''YYYY-MM-DD'' || case when %1$s < ''0001-01-01'' then '' BC'' else '''' end), %1$s::text)'
            else '%1$s::text' end, format('%s.%I', row_name, u.name)) as expression
        from unnest(names) with ordinality as u (name, place)
    )
    select case when count(*) = 1 then min(p.expression)
                else format('jsonb_build_array(%s)::text', string_agg(p.expression, ', ' order by p.place)) end
    from part p
$$;

-- The columns but its key that a row's document is made of, as far as they are there; of its uri, too.
create or replace function lexichord_data.compared_columns(source lexichord_data.indexed_table) returns text[]
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select array(select c.name from unnest(lexichord_data.current_columns(
        source, array(select n.name from jsonb_object_keys(source.numbers) as n (name) where n.name <> all(source.key)))) as c (name)
        where c.name is not null)
$$;

-- Of a table that is gone, whose key is, or that the caller cannot reach, all rows are hidden: no search fails for it.
create or replace function lexichord_data.hidden_documents() returns setof bigint
language plpgsql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    source indexed_table;
    key text[];
begin
    for source in select t.* from indexed_table t where t.is_guarded loop
        key := lexichord_data.current_columns(source, source.key);
        if array_position(key, null) is null and has_table_privilege(source.relation, 'select')
           and has_schema_privilege((select c.relnamespace from pg_class c where c.oid = source.relation), 'usage') then
            return query execute format(
                'select r.document_id from lexichord_data.table_row r where r.table_id = $1 and not exists (select from %s as a where %s = r.key)',
                source.relation, lexichord_data.key_expression(source.relation, key, 'a')) using source.id;
        else
            return query select r.document_id from table_row r where r.table_id = source.id;
        end if;
    end loop;
end $$;

-- Rows that had no key, another's, or another uri than they have by now are read anew.
do $$
declare
    source lexichord_data.indexed_table;
begin
    for source in select t.* from lexichord_data.indexed_table t loop
        if lexichord_data.owns_queue_function(source.id) and lexichord_data.table_statements(source) is not null then
            perform lexichord_data.make_queue_function(source);
        end if;
        if source.uri is not null or exists (
            select from unnest(lexichord_data.current_columns(source, source.key)) as k (name)
            where lexichord_data.key_type(source.relation, k.name) in ('bpchar'::regtype, 'date'::regtype, 'timestamp'::regtype, 'timestamptz'::regtype)) then
            insert into lexichord_data.table_change (table_id, priority) values (source.id, 1);
        end if;
    end loop;
end $$;
