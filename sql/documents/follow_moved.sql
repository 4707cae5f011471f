-- What names a document by dataset and uri, not by its id.
create or replace function lexichord.follow_moved(datasets text[], uris text[], new_dataset text) returns void
language sql set search_path = pg_catalog, lexichord_data, pg_temp as $$
    insert into dataset (name) select new_dataset where cardinality(uris) > 0 on conflict (name) do nothing;
    with place as (
        select s.id as dataset_id, p.name, p.uri, lexichord.moved_uri(p.uri, p.name, new_dataset) as new_uri
        from unnest(datasets, uris) as p (name, uri) left join dataset s on s.name = p.name where p.name <> new_dataset
    ), written as (
        delete from chunk_context x using place p where (x.dataset_id, x.uri) = (p.dataset_id, p.uri)
        returning x.key, p.new_uri, x.context, x.made_at
    ), kept as (
        insert into chunk_context (key, dataset_id, uri, context, made_at)
        select w.key, s.id, w.new_uri, w.context, w.made_at from written w, dataset s where s.name = new_dataset on conflict do nothing
    )
    update query_hit h set dataset = new_dataset, uri = p.new_uri from place p where (h.dataset, h.uri) = (p.name, p.uri);
$$;
comment on function lexichord.follow_moved(text[], text[], text) is
'Has contexts of a model''s and recorded queries name documents, each by dataset and uri, in the dataset to which they are moved. Internal.';
