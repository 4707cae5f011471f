-- A section ends where the heading changes: a later one of the same name is another.
create or replace function lexichord.chunk_places(chunk_ids bigint[]) returns table (
    chunk_id bigint, document_id bigint, ordinal integer, section integer)
language sql stable rows 100
set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select c.id, c.document_id, c.ordinal,
           coalesce((select max(o.ordinal) + 1 from chunk o
                     where o.document_id = c.document_id and o.ordinal < c.ordinal and o.heading <> c.heading), 0)
    from chunk c
    where c.id = any(chunk_ids)
    order by c.document_id, c.ordinal
$$;
comment on function lexichord.chunk_places(bigint[]) is
'Where chunks stand: their place in the document (ordinal, from 0) and that of the first chunk of their section, which is a run of chunks under one heading.';
