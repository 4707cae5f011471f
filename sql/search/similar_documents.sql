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
    is_alone boolean := not lexichord.fans_out();
    own bigint;
    mean @extschema:vector@.halfvec;
    scope bigint[];
begin
    if is_alone then
        if not exists (select from document d where d.id = source) then
            raise exception 'there is no such document' using errcode = 'no_data_found', detail = format('document %s', source);
        end if;
        scope := lexichord.scope_documents(datasets, documents, uri_prefix, filter);
    end if;
    select v.chunks, v.vector into own, mean from lexichord.gather_vector(source) as v;
    if k is null or k < 1 then
        raise exception 'k must be at least 1' using errcode = 'invalid_parameter_value';
    end if;
    own := own + greatest(20 * k::bigint, 200);
    return query
    with best as materialized (
        select h.document_id, max(h.score) as score, count(*) as hits
        from (select d.document_id, d.score
              from lexichord.dense_candidates(mean, least(own, 100000)::integer, scope) as d
              where is_alone
              union all
              select d.document_id, d.score
              from lexichord.gather_candidates(null, null, mean, least(own, 10000)::integer, datasets, documents, uri_prefix, filter,
                       '{1,0}', null, null) as g, unnest(g.candidates) as d
              where not is_alone) as h
        where h.document_id <> source
        group by h.document_id
        order by 2 desc, 1
        limit k
    )
    select d.document_id, d.dataset, d.uri, d.title, b.score, b.hits, d.metadata
    from best b join lexichord.gather_documents(array(select b.document_id from best b)) as d on d.document_id = b.document_id
    order by b.score desc, b.document_id;
end $$;
comment on function lexichord.similar_documents(bigint, integer, text[], bigint[], text, jsonb) is
'The k documents most like a stored one, by its vectors; score = the best cosine similarity of a chunk to the source''s mean vector. Readers may call it.';
