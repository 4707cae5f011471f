-- What tells answerable questions from others by vectors, as fitted on questions of the user's: of one embedding space.
create table lexichord_data.calibration (
    space     text primary key,
    constant  double precision not null,
    cosine    double precision not null,
    passage   double precision not null,
    holds     double precision[] not null,  -- confidences of questions that it was not fitted on, with an answer
    lacks     double precision[] not null,  -- and without one
    fitted_at timestamptz not null default now()
);
