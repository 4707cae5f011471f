-- A file is not for who reaches less to delete than its sender did, or than the datasets that hold it: null.
create or replace function lexichord.delete_file(file_id text, dataset text default null, reach text[] default null) returns boolean
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp set lock_timeout = '30s' as $$
declare
    prefix text;
    documents bigint[] := '{}';
begin
    -- Who begins to store the file, or stores a document of it, is waited for, and finds it gone.
    perform from file f where f.id = delete_file.file_id and delete_file.dataset is null for update;
    if reach is not null and delete_file.dataset is null and exists (
        select from file f where f.id = delete_file.file_id and (
            f.datasets <@ reach is not true
            or exists (select from dataset_file x join dataset s on s.id = x.dataset_id where x.file_id = f.id and s.name = any(reach) is not true))) then
        return null;
    end if;
    perform from dataset_file x join dataset s on s.id = x.dataset_id
    where x.file_id = delete_file.file_id and (delete_file.dataset is null or s.name = delete_file.dataset)
    order by x.dataset_id for update of x;
    for prefix in
        select format('upload://%s/%s/', s.name, x.file_id) from dataset_file x join dataset s on s.id = x.dataset_id
        where x.file_id = delete_file.file_id and (delete_file.dataset is null or s.name = delete_file.dataset)
    loop
        documents := documents || array(
            select d.id from document d where d.uri ~>=~ prefix and d.uri ~<~ (left(prefix, -1) || '0') and starts_with(d.uri, prefix));
    end loop;
    if cardinality(documents) = 0 and exists (
        select from dataset_file x join dataset s on s.id = x.dataset_id join run r on r.id = x.run_id
        where x.file_id = delete_file.file_id and (delete_file.dataset is null or s.name = delete_file.dataset)
          and r.finished_at is null and r.seen_at > clock_timestamp() - interval '60 s') then
        raise exception '% is being stored: wait for its end', file_id using errcode = 'invalid_parameter_value';
    end if;
    perform lexichord.delete_documents(documents);
    if delete_file.dataset is null then
        delete from file f where f.id = delete_file.file_id;
    else
        delete from dataset_file x using dataset s
        where x.dataset_id = s.id and s.name = delete_file.dataset and x.file_id = delete_file.file_id;
    end if;
    return found;
end $$;
comment on function lexichord.delete_file(text, text, text[]) is
'Deletes a file with the documents that it became, or takes it with them out of one dataset; false where there was none, null where the reach ends before its sender''s or the datasets that hold it.';
