create or replace function lexichord.forget_api_calls(older_than interval) returns bigint
language sql set search_path = pg_catalog, lexichord_data, pg_temp as $$
    with gone as (delete from api_call c where c.called_at <= now() - older_than returning c.id)
    select count(*) from gone
$$;
comment on function lexichord.forget_api_calls(interval) is
'Deletes recorded calls by API keys older than that, with interval ''0'' all; returns how many there were.';
revoke all on function lexichord.forget_api_calls(interval) from public;
