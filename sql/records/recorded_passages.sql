-- A list, a table and a summary rest on many passages, so that neither the first is their answer nor the last is none.
create or replace function lexichord.recorded_passages(latest integer default 10000) returns table (
    query_id bigint, query text, confidence double precision, rank integer, document_id bigint, context text, content text)
language sql stable rows 10000 set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select q.id, q.text, q.confidence, h.rank, c.document_id, c.context, c.content
    from (
        select q.id, q.text, q.confidence
        from query q
        where q.text is not null and not q.abstained and q.intent in ('clause_lookup', 'general')
        order by q.id desc
        limit lexichord.check_count('latest', latest)
    ) as q
    cross join lateral lexichord.query_hits(q.id) as h
    join chunk c on c.id = h.current_chunk_id
    order by q.id desc, h.rank
$$;
comment on function lexichord.recorded_passages(integer) is
'What the latest recorded queries found whose words were kept, that asked for one thing and did not abstain, newest first: the passages by rank, as they stand now; those that do not stand any more are left out.';
