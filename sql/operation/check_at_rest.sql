create or replace function lexichord.check_at_rest(dataset text) returns void
language plpgsql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
begin
    if exists (select from run r where r.dataset = check_at_rest.dataset and r.finished_at is null
               and r.seen_at > clock_timestamp() - interval '60 s'
               and r.total > (select count(*) from run_file f where f.run_id = r.id)) then
        raise exception 'an ingest is storing into %: wait for its end, or a minute after it was killed', dataset using errcode = 'invalid_parameter_value';
    end if;
end $$;
comment on function lexichord.check_at_rest(text) is 'Refuses a dataset in which an ingest stores something at this time. Internal.';
