create or replace function lexichord.list_originals(dataset text) returns table (uri text, document_id bigint, sha256 text)
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select d.uri, d.id, d.sha256
    from document d join dataset s on s.id = d.dataset_id
    where s.name = list_originals.dataset
      and (exists (select from original o where o.document_id = d.id and o.sha256 = d.sha256)
           or exists (select from dataset_file x join file f on f.id = x.file_id
                      where x.dataset_id = d.dataset_id and f.sha256 = d.sha256))
    order by d.uri
$$;
comment on function lexichord.list_originals(text) is
'The documents of a dataset whose bytes are kept; nothing for a dataset that is not there. Readers may call it.';
