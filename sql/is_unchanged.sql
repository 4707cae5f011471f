create or replace function lexichord.is_unchanged(document bigint, updated_at timestamptz) returns boolean
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
begin
    perform lexichord_data.join_writers();
    perform from document d where d.id = is_unchanged.document and d.updated_at = is_unchanged.updated_at for no key update;
    return found;
end $$;
comment on function lexichord.is_unchanged(bigint, timestamptz) is
'Whether a document is still the one that was stored at this time; it stays so until the transaction ends.';
