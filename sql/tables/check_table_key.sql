create or replace function lexichord.check_table_key(source regclass, key text[]) returns void
language plpgsql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    wrong text;
begin
    -- Triggers write keys with their owner's rights, so no function of a user's own type may make their text; and the
    -- text of these depends on no setting.
    select string_agg(format('"%s" (%s)', k.name, t.type), ', ') into wrong
    from unnest(key) as k (name), lexichord_data.key_type(source, k.name) as t (type)
    where not t.type = any('{int2,int4,int8,numeric,text,varchar,bpchar,uuid,bool,date,timestamp,timestamptz}'::regtype[])
      and not exists (select from pg_type e where e.oid = t.type and e.typtype = 'e');
    if wrong is not null then
        raise exception 'column % cannot be part of a key here', wrong using errcode = 'datatype_mismatch',
            hint = 'Keys are of integer, numeric, text, uuid, boolean, date, timestamp or enum types, or domains over them.';
    end if;
    if not exists (
        select from pg_index i
        where i.indrelid = source and i.indisunique and i.indisvalid and i.indpred is null and i.indexprs is null
          and (select array_agg(a.attname::text order by a.attname) from pg_attribute a
               where a.attrelid = source and a.attnum = any(i.indkey[0:i.indnkeyatts - 1]) and a.attnotnull)
              = (select array_agg(k.name order by k.name collate "C") from unnest(key) as k (name))
          and i.indnkeyatts = cardinality(key)) then
        raise exception 'columns % of table % are not unique and not null', key, source using errcode = 'invalid_table_definition',
            hint = 'Leave key out for the primary key, or add a unique index over them and set them not null.';
    end if;
end $$;
comment on function lexichord.check_table_key(regclass, text[]) is
'Raises an error unless columns name each row of a table, by types whose text is the same in every session. Internal.';
