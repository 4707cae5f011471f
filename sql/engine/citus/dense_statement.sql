-- $1 = the vector, $2 = the depth, $3 = documents. It stands alone: a limited list inside of another statement goes to a
-- file, and to a worker again (3 ms).
create or replace function lexichord.dense_statement(scoped boolean) returns text
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
    select format($statement$
        select chunk_id, document_id, embedding operator(@extschema:vector@.<=>) $1
        from lexichord_data.chunk_vector where embedding is not null %s
        order by embedding operator(@extschema:vector@.<=>) $1 limit $2
        $statement$, case when scoped then 'and document_id = any($3)' end)
$$;
comment on function lexichord.dense_statement(boolean) is
'The statement that near_chunks runs and that index_use explains. Internal. Readers may call it.';
