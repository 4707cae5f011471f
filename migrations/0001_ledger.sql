-- The ledger of applied migrations, and of the functions that were installed last.
create schema if not exists lexichord_data;

create table lexichord_data.migration (
    number     integer primary key,
    name       text not null,
    sha256     text not null,
    applied_at timestamptz not null default now()
);

-- One row: which program last (re)placed the functions of schema lexichord.
create table lexichord_data.function_release (
    only_row boolean primary key default true check (only_row),
    sha256   text not null,
    version  text not null
);

-- One row: what `init` chose for good. The analyzer and the engine never change afterwards.
create table lexichord_data.configuration (
    only_row    boolean primary key default true check (only_row),
    engine      text not null check (engine in ('pgvector', 'vectorchord')),
    text_config regconfig not null
);

-- One row: the space that every stored vector lives in.
create table lexichord_data.embedding_space (
    only_row  boolean primary key default true check (only_row),
    provider  text not null,
    model     text not null,
    dimension integer not null check (dimension between 1 and 4000)
);
