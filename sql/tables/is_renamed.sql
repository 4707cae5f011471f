create or replace function lexichord.is_renamed(made lexichord_data.indexed_table) returns boolean
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select made.relation_oid <> made.relation::oid
        or lexichord_data.current_columns(made, c.names) is distinct from c.names
        or made.name <> (select format('%I.%I', p.relnamespace::regnamespace::text, p.relname) from pg_class p where p.oid = made.relation)
    from (select coalesce(array_agg(k.name), '{}') from jsonb_object_keys(made.numbers) as k (name)) as c (names)
$$;
comment on function lexichord.is_renamed(lexichord_data.indexed_table) is 'Whether an indexed table or one of its columns has another name than it had, or came out of a dump. Internal.';
