create or replace function lexichord.list_queries(latest integer default 20) returns table (
    query_id bigint, asked_at timestamptz, query text, intent text, confidence double precision, abstained boolean,
    chunks bigint[], timings_ms jsonb, degraded text[], trace jsonb)
language sql stable set search_path = lexichord_data, pg_catalog, pg_temp as $$
    select q.id, q.asked_at, q.text, q.intent, q.confidence, q.abstained, q.chunks, q.timings_ms, q.degraded, q.trace
    from query q
    order by q.id desc
    limit latest
$$;
comment on function lexichord.list_queries(integer) is
'The latest recorded queries, newest first; query is null where its text was not to be kept.';
