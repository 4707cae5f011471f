create or replace function lexichord.document_vector(document bigint) returns table (chunks bigint, vector @extschema:vector@.halfvec, space text)
language plpgsql stable rows 1 set search_path = pg_catalog, lexichord_data, pg_temp as $$
begin
    space := (select b.space from lexichord.bound_space() as b);
    select count(*), @extschema:vector@.avg(c.embedding) into chunks, vector from chunk c where c.document_id = document;
    if not exists (select from document d where d.id = document_vector.document) then
        raise exception 'there is no such document' using errcode = 'no_data_found', detail = format('document %s', document);
    elsif vector is null then
        raise exception 'the document has no vectors yet'
            using errcode = 'invalid_parameter_value', detail = format('document %s', document), hint = 'Ingest again with an embedder.';
    end if;
    return next;
end $$;
comment on function lexichord.document_vector(bigint) is
'How many chunks a document has, and the mean of their vectors, with their space: what similar_documents searches by. Readers may call it.';
