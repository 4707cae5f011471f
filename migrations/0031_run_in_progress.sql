-- How far the files are that an ingest has at hand: {uri: {"chunks": …, "embedded": …}}.
alter table lexichord_data.run
    add column in_progress jsonb not null default '{}' check (jsonb_typeof(in_progress) = 'object');
