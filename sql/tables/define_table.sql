-- Every fault that a definition can have, each as one error; what is left is whole.
create or replace function lexichord.define_table(made lexichord_data.indexed_table) returns lexichord_data.indexed_table
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    source regclass := made.relation;
    kind "char" := (select c.relkind from pg_class c where c.oid = source and c.relpersistence <> 't'
                    and c.relnamespace::regnamespace::text not in ('pg_catalog', 'information_schema', 'lexichord_data'));
    named text[];
    wrong text;
begin
    made.filter := nullif(made.filter, '');
    made.uri := nullif(made.uri, '');
    made.title := nullif(made.title, '');
    if kind is null or kind not in ('r', 'p') then
        raise exception '% is no table whose rows can be indexed', source using errcode = 'wrong_object_type',
            hint = 'Ordinary and partitioned tables can be; of a view, index the table below it.';
    end if;
    made.key := coalesce(made.key, lexichord.primary_key(source));
    if coalesce(cardinality(made.content), 0) = 0 or made.key = '{}' then
        raise exception 'name the columns that hold the text' using errcode = 'invalid_parameter_value',
            hint = 'lexichord.index_table(''public.article'', text => ''{title,body}'')';
    elsif made.dataset !~ '[^[:space:]]' then
        raise exception 'the dataset needs a name' using errcode = 'invalid_parameter_value';
    end if;
    made.name := (select format('%I.%I', c.relnamespace::regnamespace::text, c.relname) from pg_class c where c.oid = source);
    made.context := coalesce(made.context, '{}');
    made.metadata := coalesce(made.metadata, '{}');
    -- of 'a{b}c{d}e' each second part
    named := made.key || made.content || made.title || made.context || made.metadata || array(
        select p.part from regexp_split_to_table(made.uri, '[{}]') with ordinality as p (part, place) where p.place % 2 = 0);
    named := array_remove(named, null);
    select string_agg(distinct format('"%s"', n.name), ', ') into wrong from unnest(named) as n (name)
    where not exists (select from pg_attribute a where a.attrelid = source and a.attname = n.name and a.attnum > 0 and not a.attisdropped);
    if wrong is not null then
        raise exception 'table % has no column %', source, wrong using errcode = 'undefined_column',
            hint = 'It has ' || (select string_agg(a.attname, ', ' order by a.attnum) from pg_attribute a
                                 where a.attrelid = source and a.attnum > 0 and not a.attisdropped) || '.';
    end if;
    select string_agg(format('"%s" (%s)', a.attname, format_type(a.atttypid, a.atttypmod)), ', ') into wrong
    from pg_attribute a where a.attrelid = source and a.attname = any(made.content || made.title || made.context)
        and lexichord_data.key_type(source, a.attname) in ('bytea'::regtype, 'tsvector'::regtype);
    if wrong is not null then
        raise exception 'column % has no text', wrong using errcode = 'datatype_mismatch',
            hint = 'Name columns of text, or add a generated column that makes a text of it.';
    end if;
    perform lexichord.check_table_key(source, made.key);
    made.filter_columns := lexichord.filter_columns(source, made.filter);
    made.numbers := (select jsonb_object_agg(a.attname, a.attnum) from pg_attribute a
                     where a.attrelid = source and a.attname = any(named || made.filter_columns) and a.attnum > 0);
    made.partitions := lexichord.table_partitions(source);
    made.is_guarded := (select c.relrowsecurity from pg_class c where c.oid = source);
    made.fault := null;
    made.created_at := coalesce(made.created_at, now());
    return made;
end $$;
comment on function lexichord.define_table(lexichord_data.indexed_table) is
'Checks how a table is to be indexed and completes it; an error says what is wrong. Internal.';
