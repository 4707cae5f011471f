create or replace function lexichord.record_query(
    intent text, confidence double precision, abstained boolean, hits jsonb, version text,
    stages jsonb default '[]', counts jsonb default '{}', ms double precision default null,
    coverage double precision default null, space text default null, datasets text[] default '{}',
    narrowed boolean default false, hinted boolean default false, query text default null, hint text default null,
    phrase jsonb default null
) returns bigint
language sql set search_path = pg_catalog, lexichord_data, pg_temp as $$
    with recorded as (
        insert into query (version, space, datasets, narrowed, hinted, text, hint,
                           intent, confidence, abstained, coverage, ms, counts, stages, phrase)
        values (version, space, datasets, narrowed, hinted, query, hint,
                intent, confidence, abstained, coverage, ms, counts, stages, phrase)
        returning id
    ), recorded_hit as (
        insert into query_hit (query_id, rank, chunk_id, dataset, uri, char_start, char_end, score, scores, ranks)
        select r.id, h.rank, h.chunk_id, h.dataset, h.uri, h.char_start, h.char_end, h.score,
               coalesce(h.scores, '{}'), coalesce(h.ranks, '{}')
        from recorded r, rows from (jsonb_to_recordset(hits) as (
            chunk_id bigint, dataset text, uri text, char_start integer, char_end integer,
            score double precision, scores jsonb, ranks jsonb
        )) with ordinality as h (chunk_id, dataset, uri, char_start, char_end, score, scores, ranks, rank)
    )
    select id from recorded
$$;
comment on function lexichord.record_query(
    text, double precision, boolean, jsonb, text, jsonb, jsonb, double precision, double precision, text, text[],
    boolean, boolean, text, text, jsonb) is
'Records a query and its hits, best first, each with chunk_id, dataset, uri, char_start, char_end, score and perhaps scores and ranks; the words of the query and of the hint only if they are given, phrase with uri, char_start and char_end. Returns its id.';
