create or replace function lexichord.check_space(space text) returns void
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    bound text := (select b.space from lexichord.bound_space() as b);
begin
    if space <> bound then
        raise exception 'the vectors are of %, the database''s are of %', space, bound
            using errcode = 'data_exception', hint = 'Embed with the database''s own model.';
    end if;
end $$;
comment on function lexichord.check_space(text) is
'Raises an error if vectors to be stored are not of the space that the database is bound to; null = not known. Internal. Readers may call it.';
