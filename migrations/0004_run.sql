create table lexichord_data.run (
    id          bigint generated always as identity primary key,
    dataset     text not null,
    source      text not null,
    started_at  timestamptz not null default now(),
    finished_at timestamptz
);

create table lexichord_data.run_file (
    run_id      bigint not null references lexichord_data.run on delete cascade,
    uri         text not null,
    status      text not null check (status in ('inserted', 'replaced', 'skipped', 'failed')),
    reason      text not null default '',
    chunks      integer not null default 0,
    finished_at timestamptz not null default now(),
    primary key (run_id, uri)
);
