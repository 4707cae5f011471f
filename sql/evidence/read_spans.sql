-- A place in characters is found by counting from a text's beginning, which has to be unpacked up to there. So of each text
-- all that lies between its spans is read at once, and the spans from that. Of many spans a text is read in pieces, three
-- times the root of their number: 1,000 of a text of 5 MB in .4 s of processor time, where each from the text itself takes
-- 8 to 10 s. A few are inside their text if what is read ends no earlier, beginning a character before the first one: an
-- empty span behind a text's end would be inside.
create or replace function lexichord.read_spans(documents bigint[], starts integer[], ends integer[]) returns table (
    span_number integer, content text)
language plpgsql stable rows 100
set search_path = pg_catalog, lexichord_data, pg_temp set plan_cache_mode = force_generic_plan as $$
begin
    if cardinality(documents) < 16 then
        return query
        with span as materialized (
            select s.*
            from unnest(documents, starts, ends) with ordinality as s (document_id, first, last, number)
        ), stretch as (
            select s.document_id, greatest(min(s.first) - 1, 0) as base, max(s.last) as last
            from span s where s.first >= 0 and s.last >= s.first group by s.document_id
        ), read as materialized (
            select t.document_id, t.base, substring(d.text from t.base + 1 for t.last - t.base) as content
            from stretch t join document d on d.id = t.document_id
        )
        select s.number::integer,
               case when s.first >= 0 and s.last >= s.first and r.base + length(r.content) >= s.last
                    then substring(r.content from s.first - r.base + 1 for s.last - s.first) end
        from span s left join read r on r.document_id = s.document_id
        order by s.number;
        return;
    end if;
    return query
    with held as materialized (
        select d.id, length(d.text) as characters,
               greatest(1024, length(d.text) / (3 * sqrt(cardinality(documents))))::int as size
        from document d where d.id = any(documents)
    ), span as materialized (
        select s.number, s.document_id, s.first, s.last, h.size, coalesce(s.first >= 0 and s.last between s.first and h.characters, false) as is_inside
        from unnest(documents, starts, ends) with ordinality as s (document_id, first, last, number)
        left join held h on h.id = s.document_id
    ), piece as (
        select s.document_id, p.number * s.size as start, s.size, array_agg(s.number) as spans,
               array_agg(greatest(s.first - p.number * s.size, 0)) as firsts, array_agg(least(s.last - p.number * s.size, s.size)) as lasts
        from span s, generate_series(s.first / s.size, (s.last - 1) / s.size) as p (number)
        where s.is_inside and s.last > s.first
        group by s.document_id, s.size, p.number
    ), read as (
        select i.span, string_agg(substring(t.content from i.first + 1 for i.last - i.first), '' order by p.start) as content
        from piece p
        join document d on d.id = p.document_id
        cross join lateral (select substring(d.text from p.start + 1 for p.size) as content offset 0) as t
        cross join lateral unnest(p.spans, p.firsts, p.lasts) as i (span, first, last)
        group by i.span
    )
    select s.number::integer, case when s.is_inside then coalesce(r.content, '') end
    from span s left join read r on r.span = s.number
    order by s.number;
end $$;
comment on function lexichord.read_spans(bigint[], integer[], integer[]) is
'The stored text of spans, in the order given: characters from start up to end, counted from 0. Null where there is no such document or the span does not lie inside its text. Readers may call it.';
