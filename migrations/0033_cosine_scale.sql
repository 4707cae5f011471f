-- Where the cosines of an embedding space lie, by a sample of what is stored: what confidence by vectors of any model goes by.
create table lexichord_data.cosine_scale (
    space       text primary key,
    unlike      double precision not null,  -- mean cosine of a sentence, asked as a question, with those of other chunks
    alike       double precision not null check (alike > unlike),  -- and with itself
    sentences   integer not null,           -- in the sample
    chunks      bigint not null,            -- that were stored when it was measured
    measured_at timestamptz not null default now()
);
