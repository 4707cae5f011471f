-- $1 = the vector, $2 = the depth, $3 = documents. A vector of zeros is near nothing: its distance is NaN.
-- + 0, because no index's order is quite the operator's, and the planner takes it for that: HNSW's is not strict under
-- relaxed_order, VectorChord's goes by its own sum of the distance, which differs in the last digits.
create or replace function lexichord.dense_statement(scoped boolean) returns text
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
    select format($statement$
        select c.id, c.document_id, row_number() over (order by c.distance + 0::float8, c.id), 1::float8 - c.distance
        from (select id, document_id, embedding operator(@extschema:vector@.<=>) $1 as distance
              from lexichord_data.chunk where embedding is not null %s
              order by embedding operator(@extschema:vector@.<=>) $1 limit $2) as c
        where c.distance <> 'NaN'::float8
        $statement$, case when scoped then 'and document_id = any($3)' end)
$$;
comment on function lexichord.dense_statement(boolean) is
'The statement that dense_candidates runs and that index_use explains. Internal. Readers may call it.';
