create or replace function lexichord.evaluation_results(evaluation bigint) returns table (
    query_id text, query text, hint text, intent text, answerable boolean, ms double precision, error text,
    confidence double precision, abstained boolean, metrics jsonb, passages jsonb, files text[], answer text)
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select r.query_id, q.text, q.hint, q.intent, q.answerable, r.ms, r.error, r.confidence, r.abstained,
           r.metrics, r.passages, r.files, r.answer
    from evaluation e
    join evaluation_result r on r.evaluation_id = e.id
    join evaluation_query q on q.set_id = e.set_id and q.query_id = r.query_id
    where e.id = evaluation_results.evaluation
    order by q.place
$$;
comment on function lexichord.evaluation_results(bigint) is
'What an evaluation made of each question, in the order of the set; metrics by name, null where nothing of that kind is judged.';
