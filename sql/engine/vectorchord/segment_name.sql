create or replace function lexichord.segment_name(number integer) returns text
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
    select format('lexichord_data.keyword_part_%s', number)
$$;
comment on function lexichord.segment_name(integer) is 'The table of a segment of the keyword index. Internal. Readers may call it.';
