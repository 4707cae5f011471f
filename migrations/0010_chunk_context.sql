-- What a language model wrote of a chunk, so that it is not paid for twice. Under the name of a document,
-- which need not be stored yet: with it goes, when it is deleted, what was written of all its versions.
create table lexichord_data.chunk_context (
    key        text not null,                  -- a digest of what the text depends on
    dataset_id bigint not null references lexichord_data.dataset on delete cascade,
    uri        text not null,
    context    text not null check (context <> ''),
    made_at    timestamptz not null default now(),
    primary key (key, dataset_id, uri)
);
create index chunk_context_document on lexichord_data.chunk_context (dataset_id, uri);

create function lexichord_data.forget_contexts() returns trigger
language plpgsql set search_path = lexichord_data, pg_catalog, pg_temp as $$
begin
    delete from chunk_context c using gone g where (c.dataset_id, c.uri) = (g.dataset_id, g.uri);
    return null;
end $$;

create trigger forget_contexts after delete on lexichord_data.document
    referencing old table as gone for each statement execute function lexichord_data.forget_contexts();
