-- A hybrid search a pair: each list has its own scales, so only what is absolute compares between them.
create or replace function lexichord.search_each(
    queries text[], documents bigint[], query_vectors text[] default null, k integer default 3,
    query_space text default null
) returns setof lexichord.numbered_hit
language plpgsql stable rows 100
set search_path = pg_catalog, lexichord_data, pg_temp as $$
begin
    if query_vectors is not null and cardinality(query_vectors) <> cardinality(queries) then
        raise exception 'query_vectors must be as many as queries' using errcode = 'invalid_parameter_value';
    end if;
    return query
    select q.number::integer, h.*
    from unnest(queries) with ordinality as q (query, number)
    cross join unnest(documents) with ordinality as d (id, place),
    lateral lexichord.hybrid_search(q.query, query_vectors[q.number]::@extschema:vector@.halfvec, search_each.k,
        greatest(search_each.k, lexichord.default_depth()), documents => array[d.id], query_space => search_each.query_space) as h
    order by q.number, d.place, h.score desc, h.chunk_id;
end $$;
comment on function lexichord.search_each(text[], bigint[], text[], integer, text) is
'The k best chunks of each document for each query, as hybrid_search gives them; query_number counts from 1, a vector a query is written as text. Scores compare within one query and document only, dense_score everywhere. Readers may call it.';
