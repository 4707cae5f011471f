-- As its owner, whom alone the workers know; so it asks itself what a tenant may see.
create or replace function lexichord.near_chunks(
    query_vector @extschema:vector@.halfvec, depth integer, documents bigint[], exactly boolean
) returns table (chunk_id bigint, document_id bigint, distance double precision)
language plpgsql stable security definer rows 100 set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    statement text;
begin
    documents := lexichord_data.seen_documents(documents);
    statement := lexichord.dense_statement(documents is not null);
    if exactly then  -- by a sum, which no vector index offers
        statement := replace(statement, 'order by embedding operator(@extschema:vector@.<=>) $1', 'order by (embedding operator(@extschema:vector@.<=>) $1) + 0::float8, chunk_id');
    end if;
    return query execute statement using query_vector, depth, documents;
end $$;
comment on function lexichord.near_chunks(@extschema:vector@.halfvec, integer, bigint[], boolean) is
'The chunks of all shards that are nearest to a vector, by the vector index or exactly, in no order among equals. Internal. Readers may call it.';
