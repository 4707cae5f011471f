create or replace function lexichord.list_api_calls(latest integer default 20, key bigint default null) returns table (
    called_at timestamptz, key_id bigint, name text, kind text, datasets text[], status smallint, query text)
language sql stable rows 20 set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select c.called_at, c.key_id, k.name, c.kind, c.datasets, c.status, c.query
    from api_call c join api_key k on k.id = c.key_id
    where key is null or c.key_id = key
    order by c.called_at desc, c.id desc
    limit lexichord.check_count('latest', latest)
$$;
comment on function lexichord.list_api_calls(integer, bigint) is
'The latest calls by API keys on record, or by one, newest first: what kind, in which datasets (null = all), with which of HTTP''s statuses; query is null where its words were not to be kept.';
revoke all on function lexichord.list_api_calls(integer, bigint) from public;
