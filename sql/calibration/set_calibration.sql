create or replace function lexichord.set_calibration(
    space text, constant double precision, cosine double precision, passage double precision,
    holds double precision[], lacks double precision[]
) returns void
language sql set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select lexichord.check_space(set_calibration.space);
    insert into calibration as c (space, constant, cosine, passage, holds, lacks)
    values (set_calibration.space, set_calibration.constant, set_calibration.cosine, set_calibration.passage,
            set_calibration.holds, set_calibration.lacks)
    on conflict on constraint calibration_pkey do update set
        constant = excluded.constant, cosine = excluded.cosine, passage = excluded.passage,
        holds = excluded.holds, lacks = excluded.lacks, fitted_at = now()
$$;
comment on function lexichord.set_calibration(text, double precision, double precision, double precision, double precision[], double precision[]) is
'Stores what confidence by vectors of the database''s space is judged by, in place of what was fitted before. holds and lacks are confidences of questions with and without an answer that it was not fitted on.';
