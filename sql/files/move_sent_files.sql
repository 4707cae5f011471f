-- Before the documents themselves. A file of which documents stay, as of an archive, is in both datasets then.
create or replace function lexichord.move_sent_files(documents bigint[], dataset_id bigint) returns void
language sql set search_path = pg_catalog, lexichord_data, pg_temp as $$
    with sent as (
        select x.*, format('upload://%s/%s/', s.name, x.file_id) as prefix
        from dataset_file x join dataset s on s.id = x.dataset_id
        where x.dataset_id in (select d.dataset_id from document d where d.id = any(documents))
    ), moving as (
        select t.* from sent t
        where exists (select from document d where d.id = any(documents) and d.dataset_id = t.dataset_id and starts_with(d.uri, t.prefix))
    ), added as (
        insert into dataset_file (dataset_id, file_id, run_id, attributes, created_at)
        select move_sent_files.dataset_id, m.file_id, m.run_id, m.attributes, m.created_at from moving m on conflict do nothing
    )
    delete from dataset_file x using moving m
    where (x.dataset_id, x.file_id) = (m.dataset_id, m.file_id) and not exists (
        select from document d where d.id <> all(documents) and d.dataset_id = m.dataset_id and starts_with(d.uri, m.prefix))
$$;
comment on function lexichord.move_sent_files(bigint[], bigint) is
'Takes files that were sent by themselves along with the documents that they became. Internal.';
