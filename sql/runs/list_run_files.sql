-- What went wrong comes first, for whoever watches wants to know it, then what came last.
create or replace function lexichord.list_run_files(run_id bigint, page_size bigint default null) returns table (
    uri text, status text, reason text, chunks integer)
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select f.uri, f.status, f.reason, f.chunks from run_file f
    where f.run_id = list_run_files.run_id
    order by f.status not in ('failed', 'unread'), f.finished_at desc, f.uri
    limit lexichord.check_count('page_size', page_size)
$$;
comment on function lexichord.list_run_files(bigint, bigint) is
'What became of the files of an ingest so far, those that failed or cannot be read first, then the latest: inserted, replaced, skipped, failed, deleted or unread.';
