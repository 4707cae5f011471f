create or replace function lexichord.record_evaluation(
    set_name text, strategy text, queries jsonb, results jsonb, ks integer[], version text,
    settings jsonb default '{}', qps jsonb default '{}', started_at timestamptz default now()
) returns bigint
language sql set search_path = pg_catalog, lexichord_data, pg_temp as $$
    with kept as (
        insert into evaluation_set as s (name, digest)
        values (set_name, encode(sha256(convert_to(queries::text, 'utf8')), 'hex'))
        on conflict (name, digest) do update set name = s.name  -- so that its id returns
        returning s.id
    ), question as (
        select q.query, q.place, q.query->>'id' as query_id
        from jsonb_array_elements(queries) with ordinality as q (query, place)
    ), new_question as (
        insert into evaluation_query (set_id, query_id, place, text, hint, intent, answerable)
        select k.id, q.query_id, q.place, q.query->>'text', q.query->>'hint', q.query->>'intent',
               coalesce((q.query->>'answerable')::boolean, true)
        from kept k, question q
        on conflict do nothing  -- the set is known
        returning set_id, query_id
    ), judged as (
        insert into judgment (set_id, query_id, kind, uri, char_start, char_end, ordinal, grade,
                              entity_type, variants, critical)
        select n.set_id, n.query_id, j.*
        from new_question n join question q using (query_id), lateral (
            select 'file', f.uri, null::integer, null::integer, null::integer, null::integer,
                   null::text, null::text[], null::boolean
            from jsonb_array_elements_text(q.query->'files') as f (uri)
            union all
            select 'span', s.file, s.start, s.end, null, null, null, null, null
            from jsonb_to_recordset(q.query->'spans') as s (file text, start integer, "end" integer)
            union all
            select 'chunk', c.place->>0, null, null, (c.place->>1)::integer, null, null, null, null
            from jsonb_array_elements(q.query->'chunks') as c (place)
            union all
            select 'grade', r.uri, null, null, null, r.grade::integer, null, null, null
            from jsonb_each_text(q.query->'grades') as r (uri, grade)
            union all
            select 'entity', null, null, null, null, null, e.type,
                   array(select jsonb_array_elements_text(e.variants)), coalesce(q.query->'critical' ? e.type, false)
            from jsonb_each(q.query->'entities') as e (type, variants)
        ) as j
    ), evaluated as (
        insert into evaluation (set_id, strategy, settings, ks, qps, version, started_at)
        select k.id, strategy, settings, ks, qps, version, started_at from kept k
        returning id
    ), resulted as (
        insert into evaluation_result (evaluation_id, query_id, ms, passages, files, answer, confidence,
                                       abstained, error, metrics)
        select e.id, r.query_id, r.ms, coalesce(r.passages, '[]'), coalesce(r.files, '{}'), coalesce(r.answer, ''),
               r.confidence, coalesce(r.abstained, false), r.error, coalesce(r.metrics, '{}')
        from evaluated e, jsonb_to_recordset(results) as r (
            query_id text, ms double precision, passages jsonb, files text[], answer text,
            confidence double precision, abstained boolean, error text, metrics jsonb)
    )
    select id from evaluated
$$;
comment on function lexichord.record_evaluation(
    text, text, jsonb, jsonb, integer[], text, jsonb, jsonb, timestamptz) is
'Records what a strategy made of a set of questions. queries: each with id, text and perhaps hint, intent, answerable, files, spans (file, start, end), chunks ([uri, number]), grades (uri: grade), entities (type: variants) and critical types. results: each with query_id, ms and perhaps passages, files, answer, confidence, abstained, error and metrics (name: value). Returns its id.';
