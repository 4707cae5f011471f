-- Before its ingest, which stores nothing of a file that is not there: so what is deleted meanwhile stays so. Whoever deletes a
-- file is waited for.
create or replace function lexichord.add_dataset_files(dataset text, run_id bigint, attributes jsonb) returns void
language sql set search_path = pg_catalog, lexichord_data, pg_temp as $$
    with held as (
        select f.id from file f where f.id in (select jsonb_object_keys(add_dataset_files.attributes)) for key share
    )
    insert into dataset_file (dataset_id, file_id, attributes)
    select s.id, h.id, add_dataset_files.attributes -> h.id from dataset s, held h
    where s.name = add_dataset_files.dataset and add_dataset_files.run_id is null
    on conflict (dataset_id, file_id) do update set run_id = null, attributes = excluded.attributes;

    update dataset_file x set run_id = add_dataset_files.run_id, attributes = e.value
    from dataset s, jsonb_each(add_dataset_files.attributes) as e
    where s.name = add_dataset_files.dataset and x.dataset_id = s.id and x.file_id = e.key and add_dataset_files.run_id is not null
$$;
comment on function lexichord.add_dataset_files(text, bigint, jsonb) is
'Records that files that keep_file keeps are to be stored in a dataset, with these attributes by file; with run_id, which ingest does so, of those that are still there.';
