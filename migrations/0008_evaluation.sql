-- Evaluations: sets of questions with what answers them, and what strategies made of each question.
-- Nothing here refers to documents: they were in a scratch database, so places are uris and offsets.
create table lexichord_data.evaluation_set (
    id      bigint generated always as identity primary key,
    name    text not null,
    digest  text not null,                  -- of the questions and judgments: a changed set is another
    kept_at timestamptz not null default now(),
    unique (name, digest)
);

create table lexichord_data.evaluation_query (
    set_id     bigint not null references lexichord_data.evaluation_set on delete cascade,
    query_id   text not null,               -- as the set names it
    place      integer not null,            -- in the set, from 1
    text       text not null,
    hint       text,
    intent     text,
    answerable boolean not null,
    primary key (set_id, query_id)
);

create table lexichord_data.judgment (
    set_id      bigint not null,
    query_id    text not null,
    kind        text not null check (kind in ('file', 'span', 'chunk', 'grade', 'entity')),
    uri         text,                       -- of all but entities
    char_start  integer,                    -- of a span
    char_end    integer,
    ordinal     integer,                    -- of a chunk in its document, from 0
    grade       integer,                    -- of a document, above 0 is relevant
    entity_type text,
    variants    text[],                     -- of one entity
    critical    boolean,                    -- an answer cannot do without the type
    foreign key (set_id, query_id) references lexichord_data.evaluation_query on delete cascade
);
create index judgment_query on lexichord_data.judgment (set_id, query_id);

create table lexichord_data.evaluation (
    id          bigint generated always as identity primary key,
    set_id      bigint not null references lexichord_data.evaluation_set,
    strategy    text not null,
    settings    jsonb not null,             -- how the documents were ingested and asked
    ks          integer[] not null,
    qps         jsonb not null,             -- queries/s by number of clients
    version     text not null,              -- lexichord's
    started_at  timestamptz not null
);
create index evaluation_set_id on lexichord_data.evaluation (set_id);

create table lexichord_data.evaluation_result (
    evaluation_id bigint not null references lexichord_data.evaluation on delete cascade,
    query_id      text not null,
    ms            double precision not null, -- from question to result
    passages      jsonb not null,            -- uri, start, end, number, score; best first
    files         text[] not null,           -- uris, best first
    answer        text not null,
    confidence    double precision,
    abstained     boolean not null,
    error         text,                      -- null = it did not fail
    metrics       jsonb not null,            -- by name; null = nothing of that kind was judged
    primary key (evaluation_id, query_id)
);
