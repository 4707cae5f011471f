create or replace function lexichord.list_queries(latest integer default 20) returns table (
    query_id bigint, asked_at timestamptz, query text, hint text, hinted boolean, intent text,
    confidence double precision, abstained boolean, coverage double precision, hits bigint, ms double precision,
    counts jsonb, stages jsonb, datasets text[], narrowed boolean, space text, version text, phrase jsonb)
language sql stable rows 20 set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select q.id, q.asked_at, q.text, q.hint, q.hinted, q.intent, q.confidence, q.abstained, q.coverage,
           (select count(*) from query_hit h where h.query_id = q.id),
           q.ms, q.counts, q.stages, q.datasets, q.narrowed, q.space, q.version, q.phrase
    from query q
    order by q.id desc
    limit lexichord.check_count('latest', latest)
$$;
comment on function lexichord.list_queries(integer) is
'The latest recorded queries, newest first; query and hint are null where their text was not to be kept, phrase where no answer''s was marked.';
