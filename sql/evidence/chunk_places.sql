-- A section ends where the heading changes: a later one of the same name is another.
create or replace function lexichord.chunk_places(chunk_ids bigint[]) returns table (
    chunk_id bigint, document_id bigint, ordinal integer, section integer)
language sql stable rows 100
set search_path = pg_catalog, lexichord_data, pg_temp as $$
    with asked as materialized (  -- found once, also where the planner takes the table for empty
        select c.document_id, max(c.ordinal) as last from chunk c where c.id = any(chunk_ids) group by c.document_id
    ), headed as (  -- in one pass: from each chunk back to its section's first takes time by the square where nothing has headings
        select o.id, o.document_id, o.ordinal,
               case when o.heading is distinct from lag(o.heading) over (partition by o.document_id order by o.ordinal) then o.ordinal end as start
        from asked a join chunk o on o.document_id = a.document_id and o.ordinal <= a.last
    ), placed as (
        select h.id, h.document_id, h.ordinal, max(h.start) over (partition by h.document_id order by h.ordinal) as section from headed h
    )
    select p.id, p.document_id, p.ordinal, p.section
    from placed p
    where p.id in (select unnest(chunk_ids))
    order by p.document_id, p.ordinal
$$;
comment on function lexichord.chunk_places(bigint[]) is
'Where chunks stand: their place in the document (ordinal, from 0) and that of the first chunk of their section, which is a run of chunks under one heading. Readers may call it.';
