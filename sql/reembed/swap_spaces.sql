-- Names change, no row is touched. Writers are held first, then everybody is excluded for the moment that it takes; whoever
-- waits for that makes all others wait, so it is given up soon.
create or replace function lexichord.swap_spaces(incomplete boolean default false, wait_ms integer default 200)
returns table (swapped boolean, missing bigint)
language plpgsql rows 1 set search_path = pg_catalog, lexichord_data, pg_temp set lock_timeout = 0 as $$
declare
    each text;
begin
    swapped := false;
    perform set_config('lock_timeout', wait_ms::text, true);
    perform lexichord.hold_writers();
    if not exists (select from reembedding r where r.state <> 'dropped') then
        raise exception 'there are no other vectors to swap with' using errcode = 'invalid_parameter_value';
    end if;
    select count(*) into missing from chunk c where c.other_embedding is null;
    if missing > 0 and not incomplete then
        return next;
        return;
    end if;
    lock table chunk in access exclusive mode;
    foreach each in array lexichord.vector_tables() loop
        execute format('alter table %I rename column embedding to swapped_embedding', each);
        execute format('alter table %I rename column other_embedding to embedding', each);
        execute format('alter table %I rename column swapped_embedding to other_embedding', each);
    end loop;
    drop index if exists chunk_other_missing;
    perform lexichord.swap_indexes();
    with bound as (
        select s.* from embedding_space s
    ), moved as (
        update embedding_space s set provider = r.provider, model = r.model, dimension = r.dimension
        from reembedding r where r.state <> 'dropped'
    )
    update reembedding r
    set provider = b.provider, model = b.model, dimension = b.dimension, seen_at = clock_timestamp(),
        state = case r.state when 'filling' then 'swapped' else 'filling' end,
        swapped_at = case r.state when 'filling' then clock_timestamp() end
    from bound b where r.state <> 'dropped';
    swapped := true;
    return next;
end $$;
comment on function lexichord.swap_spaces(boolean, integer) is
'Binds the database to its other vectors, and keeps those that it was bound to as the other ones. Not while chunks are missing a vector, unless incomplete. Gives up after wait_ms if others use the table for longer (lock_not_available).';
