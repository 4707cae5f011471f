-- A null column is added without touching a row. The lock excludes everybody for that moment; whoever waits for it
-- makes all others wait, so it is given up soon.
create or replace function lexichord.start_reembed(provider text, model text, dimension integer, wait_ms integer default 200)
returns bigint
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp set lock_timeout = 0 as $$
declare
    wanted text := concat_ws('/', provider, model, dimension);
    bound text := (select c.space from lexichord.configuration() as c);
    way record;
    each text;
    started bigint;
begin
    select r.id, r.state, r.old_space, r.new_space, concat_ws('/', r.provider, r.model, r.dimension) as other
    into way from reembedding r where r.state <> 'dropped';
    if wanted = bound then
        raise exception 'the database''s vectors are of % already', bound using errcode = 'invalid_parameter_value';
    elsif way.state = 'filling' and way.other = wanted then
        return way.id;
    elsif way.state = 'filling' then
        raise exception 'a change to % is under way', way.other
            using errcode = 'invalid_parameter_value', hint = 'Finish it with lexichord reembed, or give it up with --drop.';
    elsif way.state = 'swapped' then
        raise exception 'the old vectors, of %, are still kept', way.other
            using errcode = 'invalid_parameter_value', hint = 'Go back to them with --rollback, or first delete them with --drop.';
    elsif dimension > lexichord.most_dimensions() then
        raise exception '% has more dimensions than this engine''s index takes, which is %', wanted, lexichord.most_dimensions()
            using errcode = 'invalid_parameter_value', hint = 'Choose a model, or an output, of fewer dimensions.';
    end if;
    perform set_config('lock_timeout', wait_ms::text, true);
    lock table chunk in access exclusive mode;
    foreach each in array lexichord.vector_tables() loop
        execute format('alter table %I add column other_embedding @extschema:vector@.halfvec(%s)', each, dimension);
    end loop;
    if dimension <= 1536 then  -- kept in the row, as in index.sql
        alter table chunk alter column other_embedding set storage plain;
    end if;
    create trigger forget_other_vector before update of content, context on chunk
        for each row execute function lexichord_data.forget_other_vector();
    insert into reembedding as r (old_space, new_space, provider, model, dimension)
    values (bound, wanted, start_reembed.provider, start_reembed.model, start_reembed.dimension) returning r.id into started;
    return started;
end $$;
comment on function lexichord.start_reembed(text, text, integer, integer) is
'Makes the column for vectors of another space, or finds it made, and returns the change''s id. Gives up after wait_ms if others use the table for longer (lock_not_available).';
