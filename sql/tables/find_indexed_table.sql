create or replace function lexichord.find_indexed_table(source regclass) returns integer
language plpgsql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    known integer := (select t.id from indexed_table t where t.relation = source);
begin
    if known is null then
        raise exception 'table % is not indexed', source using errcode = 'no_data_found',
            hint = 'Index it by lexichord.index_table(); lexichord.list_indexed_tables() shows those that are.';
    end if;
    return known;
end $$;
comment on function lexichord.find_indexed_table(regclass) is 'The number of an indexed table; an error if it is not indexed. Internal. Readers may call it.';
