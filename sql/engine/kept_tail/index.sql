-- Idempotent: for keyword indexes that get no row after they were built. What is stored waits in the tail until
-- seal_keywords makes a segment of it; a change of a chunk's vector or metadata reaches neither.
create or replace function lexichord_data.add_to_tail() returns trigger
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
begin
    insert into keyword_tail (chunk_id) select c.chunk_id from changed c on conflict do nothing;
    return null;
end $$;
create or replace trigger add_to_tail after insert on lexichord_data.keyword
    referencing new table as changed for each statement execute function lexichord_data.add_to_tail();

create or replace function lexichord_data.drop_from_tail() returns trigger
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
begin
    delete from keyword_tail t using changed c where t.chunk_id = c.chunk_id;
    return null;
end $$;
create or replace trigger drop_from_tail after delete on lexichord_data.keyword
    referencing old table as changed for each statement execute function lexichord_data.drop_from_tail();

-- What was stored before there were impacts.
select lexichord_data.add_missing_keywords();
