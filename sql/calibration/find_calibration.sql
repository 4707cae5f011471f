create or replace function lexichord.find_calibration() returns table (
    space text, constant double precision, cosine double precision, passage double precision,
    holds double precision[], lacks double precision[], fitted_at timestamptz)
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select c.space, c.constant, c.cosine, c.passage, c.holds, c.lacks, c.fitted_at
    from calibration c where c.space = (select b.space from lexichord.configuration() as b)
$$;
comment on function lexichord.find_calibration() is
'What confidence by vectors of the database''s space is judged by, as fitted on questions of the user''s; no row where nothing was. Readers may call it.';
