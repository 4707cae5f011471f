create or replace function lexichord.exact_dense_candidates(
    query_vector @extschema:vector@.halfvec, depth integer default lexichord.default_depth(), documents bigint[] default null
) returns table (chunk_id bigint, document_id bigint, rank bigint, score double precision)
language plpgsql stable rows 100
set search_path = pg_catalog, lexichord_data, pg_temp as $$
begin
    -- Ordered by the score, which no vector index offers, so that none is taken. NaN: zeros are near nothing.
    return query execute format($query$
        select c.id, c.document_id, row_number() over (order by c.score desc, c.id), c.score
        from (select id, document_id, 1 - (embedding operator(@extschema:vector@.<=>) $1) as score
              from chunk where embedding is not null %s) as c
        where c.score <> 'NaN'
        order by c.score desc, c.id limit $2
        $query$, case when documents is not null then 'and document_id = any($3)' end)
    using query_vector, depth, documents;
end $$;
comment on function lexichord.exact_dense_candidates(@extschema:vector@.halfvec, integer, bigint[]) is
'As dense_candidates, by comparing every vector in scope: for narrow scopes, and to measure recall against. Readers may call it.';
