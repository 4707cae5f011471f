-- Asked again, a question is the same question: what was said of its answers is added up by the document that came first.
-- Which sentences an answer rested on is not kept.
create or replace function lexichord.judged_questions(latest integer default 10000) returns table (
    query_id bigint, query text, hint text, document_id bigint, dataset text, uri text)
language sql stable rows 100 set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select max(q.query_id), q.query, q.hint, d.id, s.name, d.uri
    from lexichord.list_queries(latest) as q
    join query_hit h on h.query_id = q.query_id and h.rank = 1
    join dataset s on s.name = h.dataset
    join document d on d.dataset_id = s.id and d.uri = h.uri
    where q.query is not null and q.counts ?| array['right', 'wrong']
    group by q.query, q.hint, d.id, s.name, d.uri
    having sum(coalesce((q.counts ->> 'right')::integer, 0)) > sum(coalesce((q.counts ->> 'wrong')::integer, 0))
    order by max(q.query_id)
$$;
comment on function lexichord.judged_questions(integer) is
'Of the latest recorded queries whose words were kept, those whose answer was found right more often than wrong, oldest first: each question once with each document, as it is stored now, that was its first hit then.';
