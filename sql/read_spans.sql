create or replace function lexichord.read_spans(documents bigint[], starts integer[], ends integer[]) returns table (
    span_number integer, content text)
language sql stable rows 100
set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select s.number::integer,
           case when s.first >= 0 and s.last >= s.first and s.last <= length(d.text)
                then substring(d.text from s.first + 1 for s.last - s.first) end
    from unnest(documents, starts, ends) with ordinality as s (document_id, first, last, number)
    left join document d on d.id = s.document_id
    order by s.number
$$;
comment on function lexichord.read_spans(bigint[], integer[], integer[]) is
'The stored text of spans, in the order given: characters from start up to end, counted from 0. Null where there is no such document or the span does not lie inside its text.';
