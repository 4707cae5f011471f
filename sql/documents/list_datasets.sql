create or replace function lexichord.list_datasets() returns table (dataset text, documents bigint, chunks bigint)
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select s.name,
           (select count(*) from document d where d.dataset_id = s.id),
           (select count(*) from document d join chunk c on c.document_id = d.id where d.dataset_id = s.id)
    from dataset s order by s.name
$$;
comment on function lexichord.list_datasets() is 'The datasets, with how many documents and chunks each holds. Readers may call it.';
