-- For what a function lists: LIMIT's own error does not name the argument.
create or replace function lexichord.check_count(argument text, amount bigint) returns bigint
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
begin
    if amount < 0 then
        raise exception '% must be at least 0, not %', argument, amount using errcode = 'invalid_parameter_value';
    end if;
    return amount;
end $$;
comment on function lexichord.check_count(text, bigint) is
'Returns how many rows to list, null for all; raises an error if there cannot be so many. Internal. Readers may call it.';
