-- Recorded queries: off by default, and without a word of the question unless its text is to be kept.
-- Nothing here refers to documents: a record outlives a re-ingest, so each hit says where it stood.
create table lexichord_data.query (
    id         bigint generated always as identity primary key,
    asked_at   timestamptz not null default now(),
    version    text not null,             -- lexichord's
    space      text,                      -- null = searched by words alone
    datasets   text[] not null,           -- {} = all
    narrowed   boolean not null,          -- by documents, a uri's beginning or a filter
    hinted     boolean not null,
    text       text,                      -- null = not to be kept
    hint       text,
    intent     text not null,
    confidence double precision not null,
    abstained  boolean not null,
    coverage   double precision,          -- null = not measured
    ms         double precision,          -- from question to response; null = not measured
    counts     jsonb not null,            -- of files, quotes, ...
    stages     jsonb not null,            -- names, milliseconds and counts, in the order in which they ended
    check (text is not null or hint is null),
    check (hinted or hint is null)
);
create index query_asked_at on lexichord_data.query (asked_at);

create table lexichord_data.query_hit (
    query_id   bigint not null references lexichord_data.query on delete cascade,
    rank       integer not null,
    chunk_id   bigint not null,           -- as it was then
    dataset    text not null,
    uri        text not null,
    char_start integer not null,
    char_end   integer not null,
    score      double precision not null,
    scores     jsonb not null,
    ranks      jsonb not null,
    primary key (query_id, rank)
);
