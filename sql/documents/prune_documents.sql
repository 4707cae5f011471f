create or replace function lexichord.prune_documents(run_id bigint, uris text[]) returns bigint
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    gone bigint;
begin
    gone := lexichord.delete_documents((
        select array_agg(d.id) from run r join dataset s on s.name = r.dataset join document d on d.dataset_id = s.id
        where r.id = run_id and d.uri = any(uris)));
    perform lexichord.record_files(run_id, uris, 'deleted', 'the file is gone');
    update run set total = total + cardinality(uris) where id = run_id;
    return gone;
end $$;
comment on function lexichord.prune_documents(bigint, text[]) is
'Deletes documents of a run''s dataset and records it in the run, in one transaction; returns how many there were.';
