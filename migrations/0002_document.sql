create table lexichord_data.dataset (
    id         bigint generated always as identity primary key,
    name       text not null unique check (name <> ''),
    created_at timestamptz not null default now()
);

create table lexichord_data.document (
    id          bigint generated always as identity primary key,
    dataset_id  bigint not null references lexichord_data.dataset on delete cascade,
    uri         text not null check (uri <> ''),
    title       text not null,
    media_type  text not null,
    sha256      text not null check (sha256 ~ '^[0-9a-f]{64}$'),
    recipe      text not null,
    text        text not null,
    metadata    jsonb not null default '{}' check (jsonb_typeof(metadata) = 'object'),
    card_length integer not null default 0,
    created_at  timestamptz not null default now(),
    updated_at  timestamptz not null default now(),
    unique (dataset_id, uri),
    unique (id, dataset_id)
);
create index document_metadata on lexichord_data.document using gin (metadata);
create index document_uri on lexichord_data.document (uri text_pattern_ops);

-- document.text[char_start:char_end] = content, counted in characters from 0.
create table lexichord_data.chunk (
    id           bigint generated always as identity primary key,
    dataset_id   bigint not null,
    document_id  bigint not null,
    ordinal      integer not null,
    heading      text not null default '',
    char_start   integer not null check (char_start >= 0),
    char_end     integer not null check (char_end >= char_start),
    page         integer,
    content      text not null,
    context      text not null default '',
    lexemes      tsvector not null,
    token_count  integer not null,
    metadata     jsonb not null default '{}',
    content_hash text not null,
    unique (document_id, ordinal),
    foreign key (document_id, dataset_id)
        references lexichord_data.document (id, dataset_id) on delete cascade
);
