-- A file that was sent by itself is what its run made of it; every other document is a file, too. A title that it was sent
-- with became its document's.
create or replace function lexichord.list_dataset_files(
    dataset text, file_ids text[] default null, documents bigint[] default null, runs bigint[] default null,
    state text default null, page_size bigint default null, descending boolean default true,
    past_at timestamptz default null, past_key text default null
) returns table (file_id text, document_id bigint, uri text, state text, reason text, attributes jsonb,
                 byte_count bigint, created_at timestamptz, run_id bigint, sort_key text)
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    with sent as (
        select x.*, format('upload://%s/%s/', s.name, x.file_id) as prefix, f.name, f.byte_count
        from dataset s join dataset_file x on x.dataset_id = s.id join file f on f.id = x.file_id
        where s.name = list_dataset_files.dataset and list_dataset_files.documents is null
          and (file_ids is null or x.file_id = any(file_ids))
          and (runs is null or x.run_id = any(runs) or exists (  -- or another run since
              select from run_file r where r.run_id = any(runs) and starts_with(r.uri, format('upload://%s/%s/', s.name, x.file_id))))
    ), entries as (
        select x.file_id, null::bigint as document_id, x.prefix || x.name as uri, v.state,
               case when v.state = 'failed' then coalesce(told.reason,
                    case when r.finished_at is null then 'it was interrupted' else 'nothing in it can be read' end) end as reason,
               case when v.state = 'completed'
                    then case when x.attributes ? 'title' then jsonb_build_object('title', d.title) else '{}' end || d.metadata
                    else x.attributes end as attributes, x.byte_count, x.created_at, x.run_id, x.file_id as sort_key
        from sent x left join run r on r.id = x.run_id,
             lateral (select count(*) as documents, (array_agg(d.metadata order by d.id))[1] as metadata,
                             (array_agg(d.title order by d.id))[1] as title,
                             bool_or(d.media_type in ('message/rfc822', 'application/vnd.ms-outlook')) as is_mail
                      from document d
                      where d.dataset_id = x.dataset_id and d.uri ~>=~ x.prefix and d.uri ~<~ (left(x.prefix, -1) || '0')) as d,
             lateral (select count(*) as files, min(f.reason) filter (where f.status = 'failed') as reason,
                             coalesce(bool_or(f.uri = x.prefix || x.name), false) as is_whole from run_file f
                      where f.run_id = x.run_id and starts_with(f.uri, x.prefix)) as told,
             lateral (select case  -- what it was stored as before says nothing while its run has yet to come to it; of a file
                      -- that contains others some may be missing until its run has ended
                      when (not told.is_whole or d.is_mail) and r.finished_at is null and r.seen_at >= clock_timestamp() - interval '60 s' then 'in_progress'
                      when d.documents > 0 then 'completed'
                      when told.files = 0 and r.finished_at = 'infinity' then 'cancelled' else 'failed' end as state) as v
        union all
        select null, d.id, d.uri, 'completed', null, d.metadata, octet_length(d.text), d.created_at, null, 'doc' || lpad(d.id::text, 20, '0')
        from dataset s join document d on d.dataset_id = s.id
        where s.name = list_dataset_files.dataset and file_ids is null and runs is null
          and (list_dataset_files.documents is null or d.id = any(list_dataset_files.documents))
          and not (starts_with(d.uri, 'upload://') and exists (
              select from dataset_file x
              where x.dataset_id = s.id and x.file_id = split_part(substr(d.uri, length(format('upload://%s/', s.name)) + 1), '/', 1)))
    )
    select * from entries e
    where (list_dataset_files.state is null or e.state = list_dataset_files.state)
      and (past_at is null or case when descending then (e.created_at, e.sort_key) < (past_at, past_key)
                                   else (e.created_at, e.sort_key) > (past_at, past_key) end)
    order by case when descending then e.created_at end desc, case when descending then e.sort_key end desc, e.created_at, e.sort_key
    limit lexichord.check_count('page_size', page_size)
$$;
comment on function lexichord.list_dataset_files(text, text[], bigint[], bigint[], text, bigint, boolean, timestamptz, text) is
'What a dataset holds, as files: those that were sent by themselves, whatever became of them (in_progress, completed, cancelled, failed), and its other documents; a page past a file''s time and sort_key.';
