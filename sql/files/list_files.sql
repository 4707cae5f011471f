-- In reach is a file of whoever reached no more, and one that a dataset in reach holds.
create or replace function lexichord.list_files(
    file_ids text[] default null, reach text[] default null, purpose text default null, page_size bigint default null,
    descending boolean default true, past_at timestamptz default null, past_key text default null
) returns table (file_id text, name text, media_type text, purpose text, byte_count bigint, sha256 text,
                 created_at timestamptz, datasets text[])
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    with held as (
        select f.id, f.name, f.media_type, f.purpose, f.byte_count, f.sha256, f.created_at,
               array(select s.name from dataset_file x join dataset s on s.id = x.dataset_id where x.file_id = f.id order by s.name) as datasets,
               f.datasets as sent_by
        from file f
        where (file_ids is null or f.id = any(file_ids)) and (list_files.purpose is null or f.purpose = list_files.purpose)
    )
    select h.id, h.name, h.media_type, h.purpose, h.byte_count, h.sha256, h.created_at, h.datasets
    from held h
    where (reach is null or h.sent_by <@ reach or h.datasets && reach)
      and (past_at is null or case when descending then (h.created_at, h.id) < (past_at, past_key) else (h.created_at, h.id) > (past_at, past_key) end)
    order by case when descending then h.created_at end desc, case when descending then h.id end desc, h.created_at, h.id
    limit lexichord.check_count('page_size', page_size)
$$;
comment on function lexichord.list_files(text[], text[], text, bigint, boolean, timestamptz, text) is
'The files that keep_file keeps, with the datasets that hold them: those in reach of some datasets, a page past a file''s time and id. Readers may call it.';
