create or replace function lexichord.release_numbers(version text) returns integer[]
language sql immutable parallel safe set search_path = pg_catalog, pg_temp set standard_conforming_strings = on as $$
    select (string_to_array(substring(version from '^\d+(?:\.\d+)*') || '.0.0', '.')::integer[])[1:3]
$$;
comment on function lexichord.release_numbers(text) is
'The first three numbers of a version, to compare it by: 1.5.0-dev is {1,5,0}, 0.8 is {0,8,0}. Internal. Readers may call it.';
