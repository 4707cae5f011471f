create or replace function lexichord.record_query(
    intent text, confidence double precision, abstained boolean, chunks bigint[], timings_ms jsonb,
    degraded text[] default '{}', trace jsonb default '{}', query text default null
) returns bigint
language sql set search_path = lexichord_data, pg_catalog, pg_temp as $$
    insert into query as q (text, intent, confidence, abstained, chunks, timings_ms, degraded, trace)
    values (query, intent, confidence, abstained, chunks, timings_ms, degraded, trace)
    returning q.id
$$;
comment on function lexichord.record_query(text, double precision, boolean, bigint[], jsonb, text[], jsonb, text) is
'Records a query with what it found, best chunk first; without its text unless that is given. Returns its id.';
