-- Files that are sent before a dataset is named, as OpenAI's clients send them; stored in a dataset they become documents
-- below upload://DATASET/ID/.
create table lexichord_data.file (
    id         text primary key check (id ~ '^file-[0-9a-f]{24}$'),
    name       text not null check (name <> ''),
    media_type text not null,
    purpose    text not null,
    content    bytea not null,
    sha256     text not null generated always as (encode(sha256(content), 'hex')) stored,
    byte_count bigint not null generated always as (length(content)) stored,
    datasets   text[], -- what the key of who sent it reached; null = all
    created_at timestamptz not null default clock_timestamp()
);
alter table lexichord_data.file alter column content set storage external;

create table lexichord_data.dataset_file (
    dataset_id bigint not null references lexichord_data.dataset on delete cascade,
    file_id    text not null references lexichord_data.file on delete cascade,
    run_id     bigint references lexichord_data.run on delete set null,
    attributes jsonb not null default '{}' check (jsonb_typeof(attributes) = 'object'),
    created_at timestamptz not null default clock_timestamp(),
    primary key (dataset_id, file_id)
);
create index dataset_file_file on lexichord_data.dataset_file (file_id);
create index dataset_file_run on lexichord_data.dataset_file (run_id);

-- What others than lexichord say of a dataset: the name, description and metadata of a vector store.
alter table lexichord_data.dataset
    add column details jsonb not null default '{}' check (jsonb_typeof(details) = 'object');
