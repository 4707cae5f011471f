create or replace function lexichord.start_run(dataset text, source text) returns bigint
language sql set search_path = lexichord_data, pg_catalog, pg_temp as $$
    insert into run (dataset, source) values (dataset, source) returning id
$$;
comment on function lexichord.start_run(text, text) is 'Opens the record of an ingest; returns its id.';
