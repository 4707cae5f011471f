-- A section ends where the heading changes: a later one of the same name is another.
create or replace function lexichord.expand_context(
    chunk_ids bigint[], neighbours integer default 1, whole_section boolean default false
) returns table (
    chunk_id bigint, document_id bigint, uri text, title text, heading text,
    char_start integer, char_end integer, content text)
language sql stable rows 10
set search_path = pg_catalog, lexichord_data, pg_temp as $$
    with around as materialized (
        select row_number() over (order by wanted.place) as number, c.id, c.document_id, c.heading, span.first, span.last
        from unnest(chunk_ids) with ordinality as wanted (id, place)
        join chunk c on c.id = wanted.id
        cross join lateral (
            select coalesce((
                       select o.ordinal + 1 from chunk o
                       where o.document_id = c.document_id and o.ordinal < c.ordinal and o.heading <> c.heading
                       order by o.ordinal desc limit 1), 0) as first,
                   coalesce((
                       select o.ordinal - 1 from chunk o
                       where o.document_id = c.document_id and o.ordinal > c.ordinal and o.heading <> c.heading
                       order by o.ordinal limit 1), 2147483647) as last
            where whole_section and c.heading <> ''
            union all
            select c.ordinal, c.ordinal where not whole_section or c.heading = ''
        ) as section
        cross join lateral (
            select min(n.char_start) as first, max(n.char_end) as last
            from chunk n
            where n.document_id = c.document_id
              and n.ordinal between least(section.first, c.ordinal - greatest(neighbours, 0)::bigint)
                                and greatest(section.last, c.ordinal + greatest(neighbours, 0)::bigint)
        ) as span
    )
    select a.id, d.id, d.uri, d.title, a.heading, a.first, a.last, r.content
    from around a
    join document d on d.id = a.document_id
    join lexichord.read_spans(
        (select array_agg(a.document_id order by a.number) from around a), (select array_agg(a.first order by a.number) from around a),
        (select array_agg(a.last order by a.number) from around a)) as r on r.span_number = a.number
    order by a.number
$$;
comment on function lexichord.expand_context(bigint[], integer, boolean) is
'The text around chunks, in the order given: their neighbours on both sides, or also the whole section under the same heading. Readers may call it.';
