create or replace function lexichord.is_unchanged(document bigint, updated_at timestamptz, dataset text default null) returns boolean
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
begin
    perform lexichord_data.join_writers();
    perform from document d
    where d.id = is_unchanged.document and d.updated_at = is_unchanged.updated_at
        and (is_unchanged.dataset is null or is_unchanged.dataset = (select s.name from dataset s where s.id = d.dataset_id))
    for no key update;
    return found;
end $$;
comment on function lexichord.is_unchanged(bigint, timestamptz, text) is
'Whether a document is still the one that was stored at this time, in this dataset if one is named; it stays so until the transaction ends.';
