-- What others change of it, metadata or a vector that it lacked, waits for the transaction.
create or replace function lexichord.depart_document(document bigint) returns table (
    dataset text, uri text, title text, media_type text, sha256 text, recipe text, content text, metadata text, text_config text,
    created_at timestamptz, updated_at timestamptz, chunk_ids bigint[])
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
begin
    perform from document d where d.id = depart_document.document for update;
    perform from chunk c where c.document_id = depart_document.document and c.embedding is null for update;
    return query
    select r.*, d.created_at, d.updated_at, array(select c.id from chunk c where c.document_id = d.id order by c.ordinal)
    from document d, lexichord.read_document(d.id) as r where d.id = depart_document.document;
end $$;
comment on function lexichord.depart_document(bigint) is
'A document as arrive_document of another shard takes it; nobody changes it until the transaction ends.';
