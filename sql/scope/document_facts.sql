-- A key of the document's own metadata goes before a built-in one of the same name.
create or replace function lexichord.document_facts(
    dataset text, uri text, title text, media_type text, metadata jsonb
) returns jsonb
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
    select jsonb_build_object('dataset', dataset, 'uri', uri, 'title', title, 'media_type', media_type,
                              'folder', regexp_replace(uri, '/?[^/]*$', '')) || metadata
$$;
comment on function lexichord.document_facts(text, text, text, text, jsonb) is
'What a filter looks at: the built-in keys dataset, uri, title, media_type and folder, and the document''s metadata. Internal. Readers may call it.';
