-- What was asked and found, where that is recorded at all: off by default, the question's text only if asked for.
create table lexichord_data.query (
    id         bigint generated always as identity primary key,
    asked_at   timestamptz not null default now(),
    text       text,
    intent     text not null,
    confidence double precision not null,
    abstained  boolean not null,
    chunks     bigint[] not null,
    timings_ms jsonb not null,
    degraded   text[] not null default '{}',
    trace      jsonb not null default '{}'
);
create index query_asked_at on lexichord_data.query (asked_at);
