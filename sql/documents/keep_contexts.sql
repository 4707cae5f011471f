-- The first text of a key stays: what is indexed is what is kept.
create or replace function lexichord.keep_contexts(dataset text, uri text, keys text[], contexts text[]) returns void
language sql set search_path = pg_catalog, lexichord_data, pg_temp as $$
    insert into dataset (name) values (keep_contexts.dataset) on conflict (name) do nothing;
    insert into chunk_context (key, dataset_id, uri, context)
    select k.key, s.id, keep_contexts.uri, k.context
    from dataset s, unnest(keys, contexts) as k (key, context)
    where s.name = keep_contexts.dataset
    on conflict do nothing;
$$;
comment on function lexichord.keep_contexts(text, text, text[], text[]) is
'Keeps what a language model wrote of chunks of a document, until the document is deleted.';
