create or replace function lexichord.start_run(dataset text, source text, total bigint default 0) returns bigint
language sql set search_path = pg_catalog, lexichord_data, pg_temp as $$
    insert into run (dataset, source, total) values (dataset, source, total) returning id
$$;
comment on function lexichord.start_run(text, text, bigint) is
'Opens the record of an ingest of so many files; returns its id.';
