-- As its owner, whom alone the workers know; so it asks itself what a tenant may see.
create or replace function lexichord.matching_chunks(
    weights @extschema:vector@.sparsevec, depth integer, documents bigint[], among bigint[]
) returns table (chunk_id bigint, document_id bigint, distance double precision)
language plpgsql stable security definer rows 100 set search_path = pg_catalog, lexichord_data, pg_temp as $$
begin
    documents := lexichord_data.seen_documents(documents);
    return query execute format($query$
        select k.chunk_id, k.document_id, k.impacts operator(@extschema:vector@.<#>) $1
        from keyword k where true %s %s order by 3, 1 limit $2
        $query$, case when documents is not null then 'and k.document_id = any($3)' end,
                 case when among is not null then 'and k.chunk_id = any($4)' end)
    using weights, depth, documents, among;
end $$;
comment on function lexichord.matching_chunks(@extschema:vector@.sparsevec, integer, bigint[], bigint[]) is
'The chunks of all shards whose impacts have the largest products with the weights of terms; distance = the product, negative. Internal. Readers may call it.';
