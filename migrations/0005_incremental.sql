-- What only the keyword index sees beside a chunk's content; `context` is embedded as well.
alter table lexichord_data.chunk add column keyword_context text not null default '';

-- From here on content_hash is that of heading and content. Older ones match nothing: their chunks are
-- embedded anew when their document is next replaced.

-- A renamed or copied file is found by the digest of its bytes.
create index document_source on lexichord_data.document (dataset_id, sha256);

-- total = files that the run has to do; seen_at = its latest sign of life.
alter table lexichord_data.run
    add column total integer not null default 0,
    add column seen_at timestamptz not null default now();

alter table lexichord_data.run_file
    drop constraint run_file_status_check,
    add constraint run_file_status_check
        check (status in ('inserted', 'replaced', 'skipped', 'failed', 'deleted'));
create index run_file_uri on lexichord_data.run_file (uri);
