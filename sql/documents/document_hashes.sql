-- Over exactly what a copy takes along. What is made of it (ids, lexemes, statistics) differs between databases.
create or replace function lexichord.document_hashes(dataset text)
returns table (document_id bigint, uri text, chunks bigint, vectors bigint, hash text)
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select d.id, d.uri, c.chunks, c.vectors, lexichord.content_hash(lexichord.content_hash(r::text) || c.hashes)
    from dataset s join document d on d.dataset_id = s.id,
         lexichord.read_document(d.id) as r,
         lateral (
             select count(*) as chunks, count(k.embedding) as vectors,
                    coalesce(string_agg(lexichord.content_hash(k::text), '' order by k.ordinal), '') as hashes
             from lexichord.read_chunks(d.id) as k) as c
    where s.name = document_hashes.dataset
    order by d.uri
$$;
comment on function lexichord.document_hashes(text) is
'A hash of each document of a dataset with its chunks and their vectors: the same in two databases = the same document. Readers may call it.';
