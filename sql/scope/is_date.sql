-- PostgreSQL 16 has pg_input_is_valid for this; 15 can only try, which no parallel plan may do.
create or replace function lexichord.is_date(value text) returns boolean
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
    return value::timestamptz is not null;
exception when data_exception then
    return false;
end $$;
comment on function lexichord.is_date(text) is 'Whether a text is a date or a time. Internal. Readers may call it.';
