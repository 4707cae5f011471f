-- The page is cut before anything is read of the documents: their texts are long, their chunks many.
create or replace function lexichord.list_documents(
    datasets text[] default null, documents bigint[] default null, uri_prefix text default null, filter jsonb default null,
    page_size bigint default null, page_offset bigint default 0
) returns table (document_id bigint, dataset text, uri text, title text, media_type text, characters integer,
                 chunks bigint, metadata jsonb, updated_at timestamptz)
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    with scope as materialized (select lexichord.scope_documents(datasets, documents, uri_prefix, filter) as ids),
    page as materialized (
        select d.id, s.name, d.uri
        from document d join dataset s on s.id = d.dataset_id
        where (select ids is null from scope) or d.id in (select unnest(ids) from scope) -- any(ids) is not hashed
        order by s.name collate "C", d.uri collate "C"
        limit lexichord.check_count('page_size', page_size) offset lexichord.check_count('page_offset', page_offset)
    )
    select d.id, page.name, d.uri, d.title, d.media_type, length(d.text),
           (select count(*) from chunk c where c.document_id = d.id), d.metadata, d.updated_at
    from page join document d on d.id = page.id
    order by page.name collate "C", page.uri collate "C"
$$;
comment on function lexichord.list_documents(text[], bigint[], text, jsonb, bigint, bigint) is
'The documents of a scope by dataset and uri, or a page of them. Readers may call it.';
