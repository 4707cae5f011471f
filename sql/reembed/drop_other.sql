create or replace function lexichord.drop_other(wait_ms integer default 200) returns text
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp set lock_timeout = 0 set client_min_messages = warning as $$
declare
    dropped text;
    each text;
begin
    perform set_config('lock_timeout', wait_ms::text, true);
    perform lexichord.hold_writers();
    lock table chunk in access exclusive mode;
    update reembedding r set state = 'dropped', seen_at = clock_timestamp() where r.state <> 'dropped'
    returning concat_ws('/', r.provider, r.model, r.dimension) into dropped;
    if dropped is null then
        raise exception 'there are no other vectors to drop' using errcode = 'invalid_parameter_value';
    end if;
    drop trigger forget_other_vector on chunk;
    perform lexichord.drop_other_index();
    foreach each in array lexichord.vector_tables() loop
        execute format('alter table %I drop column other_embedding', each);
    end loop;
    return dropped;
end $$;
comment on function lexichord.drop_other(integer) is
'Deletes the vectors that the database is not bound to, and their index; returns their space. Their room is free for other rows once each row has been written anew. Gives up after wait_ms if others use the table for longer (lock_not_available).';
