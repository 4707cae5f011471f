-- Where a program that knew other shards stored the same document here, the one that was stored later stays.
create or replace function lexichord.arrive_document(
    document bigint, dataset text, uri text, title text, media_type text, sha256 text, recipe text, content text, metadata jsonb,
    text_config text, created_at timestamptz, updated_at timestamptz, chunk_ids bigint[], space text
) returns boolean
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    owner bigint;
begin
    perform lexichord_data.join_writers();
    insert into dataset (name) values (arrive_document.dataset) on conflict (name) do nothing;
    select s.id into strict owner from dataset s where s.name = arrive_document.dataset;
    delete from document d
    where d.dataset_id = owner and d.uri = arrive_document.uri and d.updated_at <= arrive_document.updated_at;
    insert into document (id, dataset_id, uri, title, media_type, sha256, recipe, text, created_at)
    overriding system value
    values (document, owner, arrive_document.uri, '', '', arrive_document.sha256, '', '', arrive_document.created_at)
    on conflict do nothing;
    if not found then
        delete from staged_chunk;
        return false;
    end if;
    perform lexichord.store_document(arrive_document.dataset, arrive_document.uri, arrive_document.title,
        arrive_document.media_type, arrive_document.sha256, arrive_document.recipe, arrive_document.content,
        arrive_document.metadata, space => arrive_document.space, text_config => arrive_document.text_config,
        chunk_ids => arrive_document.chunk_ids);
    update document d set updated_at = arrive_document.updated_at where d.id = arrive_document.document;
    return true;
end $$;
comment on function lexichord.arrive_document(bigint, text, text, text, text, text, text, text, jsonb, text, timestamptz, timestamptz, bigint[], text) is
'Stores a document of another shard with the chunks that the session staged, as store_document does; ids and times stay. False = the same document was stored here later, and stays.';
