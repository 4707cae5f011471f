create or replace function lexichord.add_dataset_files(dataset text, run_id bigint, attributes jsonb) returns void
language sql set search_path = pg_catalog, lexichord_data, pg_temp as $$
    insert into dataset_file (dataset_id, file_id, run_id, attributes)
    select s.id, e.key, add_dataset_files.run_id, e.value from dataset s, jsonb_each(add_dataset_files.attributes) as e
    where s.name = add_dataset_files.dataset and exists (select from file f where f.id = e.key)
    on conflict (dataset_id, file_id) do update set run_id = excluded.run_id, attributes = excluded.attributes
$$;
comment on function lexichord.add_dataset_files(text, bigint, jsonb) is
'Records that an ingest stores files that keep_file keeps in a dataset; attributes are by file.';
