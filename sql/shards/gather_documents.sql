create or replace function lexichord.gather_documents(documents bigint[])
returns table (document_id bigint, dataset text, uri text, title text, metadata jsonb)
language plpgsql stable rows 10
set search_path = pg_catalog, lexichord_data, pg_temp
-- Citus plans a statement for its values: it has no generic plan.
set plan_cache_mode = auto as $$
begin
    if lexichord.fans_out() then
        return query
        select d.document_id, d.dataset, d.uri, d.title, d.metadata
        from shard_node n, lateral lexichord.shard_scope(n.number, null, gather_documents.documents, null, null) as s,
        lateral lexichord.list_documents(documents => s.own_documents) as d;
    else
        return query
        select d.id, s.name, d.uri, d.title, d.metadata
        from document d join dataset s on s.id = d.dataset_id where d.id = any(documents);
    end if;
end $$;
comment on function lexichord.gather_documents(bigint[]) is 'What names documents, wherever they are; in no order. Internal. Readers may call it.';
