-- Lines of a --chunked file are known by their place only until they can be read. What they came from, ingested again
-- to its end without meeting them, is the sign that they are mended; of pages, that their site has them no more. Of a
-- file, whose uri is its path, it is none: the run may have left it out, and a file that is gone is told by itself.
create or replace function lexichord.failed_files(dataset text) returns table (uri text, reason text)
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp set standard_conforming_strings = on as $$
    select f.uri, f.reason
    from run r join run_file f on f.run_id = r.id
    where r.dataset = failed_files.dataset and f.status = 'failed'
      and not exists (
          select from run_file g join run l on l.id = g.run_id
          where g.uri = f.uri and l.dataset = r.dataset and g.run_id > f.run_id)
      and not (f.uri !~ '^(/|[A-Za-z]:[\\/])' and exists (
          select from run l
          where l.dataset = r.dataset and l.source = r.source and l.id > r.id and l.finished_at < 'infinity'))
    order by f.uri
$$;
comment on function lexichord.failed_files(text) is
'The files of a dataset that failed when they were last ingested, with the reasons.';
