-- The mean of the document's own vectors is the query. Its own chunks would fill the list, so the depth is
-- raised by their number and they are left out afterwards.
create or replace function lexichord.similar_documents(
    source bigint, k integer default lexichord.default_k(),
    datasets text[] default null, documents bigint[] default null, uri_prefix text default null, filter jsonb default null
) returns table (
    document_id bigint, dataset text, uri text, title text, score double precision, hits bigint, metadata jsonb
)
language plpgsql stable rows 10
set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    own bigint;
    mean @extschema:vector@.halfvec;
    scope bigint[];
begin
    if not exists (select from document d where d.id = source) then
        raise exception 'there is no such document' using errcode = 'no_data_found', detail = format('document %s', source);
    end if;
    scope := lexichord.scope_documents(datasets, documents, uri_prefix, filter);
    select count(*), @extschema:vector@.avg(c.embedding) into own, mean from chunk c where c.document_id = source;
    if mean is null then
        raise exception 'the document has no vectors yet'
            using errcode = 'invalid_parameter_value', detail = format('document %s', source), hint = 'Ingest again with an embedder.';
    elsif k is null or k < 1 then
        raise exception 'k must be at least 1' using errcode = 'invalid_parameter_value';
    end if;
    own := own + greatest(20 * k::bigint, 200);
    return query
    with best as materialized (
        select h.document_id, max(h.score) as score, count(*) as hits
        from lexichord.dense_candidates(mean, least(own, 100000)::integer, scope) as h
        where h.document_id <> source
        group by h.document_id
        order by 2 desc, 1
        limit k
    )
    select d.id, s.name, d.uri, d.title, b.score, b.hits, d.metadata
    from best b join document d on d.id = b.document_id join dataset s on s.id = d.dataset_id
    order by b.score desc, b.document_id;
end $$;
comment on function lexichord.similar_documents(bigint, integer, text[], bigint[], text, jsonb) is
'The k documents most like a stored one, by its vectors; score = the best cosine similarity of a chunk to the source''s mean vector. Readers may call it.';
