-- The same key may stand under several names: a copied document's is as good as its own.
create or replace function lexichord.known_contexts(keys text[]) returns table (key text, context text)
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select distinct on (c.key) c.key, c.context
    from chunk_context c where c.key = any(keys) order by c.key, c.made_at, c.dataset_id, c.uri
$$;
comment on function lexichord.known_contexts(text[]) is
'What a language model has written of chunks before, by key; the oldest text of each.';
