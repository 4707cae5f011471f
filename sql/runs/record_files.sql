create or replace function lexichord.record_files(
    run_id bigint, uris text[], status text, reason text default '', chunks bigint default 0
) returns void
language sql set search_path = pg_catalog, lexichord_data, pg_temp as $$
    insert into run_file (run_id, uri, status, reason, chunks)
    select distinct run_id, u, status, reason, chunks from unnest(uris) as u
    on conflict on constraint run_file_pkey do update
    set status = excluded.status, reason = excluded.reason, chunks = excluded.chunks, finished_at = now();
    select lexichord.touch_run(run_id);
$$;
comment on function lexichord.record_files(bigint, text[], text, text, bigint) is
'Records what became of files in an ingest: inserted, replaced, skipped, failed, deleted, or unread: of a kind, the reason, that cannot be read.';
