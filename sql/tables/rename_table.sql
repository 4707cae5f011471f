-- A worker that does not own the triggers' function leaves it: it still asks by the names that columns have by now, slower.
create or replace function lexichord.rename_table(made lexichord_data.indexed_table) returns void
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
begin
    update indexed_table t
    set relation_oid = made.relation, name = (select format('%I.%I', p.relnamespace::regnamespace::text, p.relname) from pg_class p where p.oid = made.relation),
        key = lexichord_data.current_columns(made, made.key), content = lexichord_data.current_columns(made, made.content),
        title = (lexichord_data.current_columns(made, array[made.title]))[1], context = lexichord_data.current_columns(made, made.context),
        metadata = lexichord_data.current_columns(made, made.metadata), uri = lexichord.renamed_uri(made),
        filter_columns = lexichord_data.current_columns(made, made.filter_columns),
        numbers = (select jsonb_object_agg(a.attname, a.attnum) from pg_attribute a
                   where a.attrelid = made.relation and a.attname = any(lexichord_data.current_columns(made, array(select jsonb_object_keys(made.numbers)))))
    where t.id = made.id
    returning t.* into made;
    if lexichord_data.owns_queue_function(made.id) then
        perform lexichord_data.make_queue_function(made);
    end if;
end $$;
comment on function lexichord.rename_table(lexichord_data.indexed_table) is 'Takes over the names that an indexed table and its columns have by now. Internal.';
