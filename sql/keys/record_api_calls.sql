create or replace function lexichord.record_api_calls(calls jsonb, keep boolean) returns void
language sql set search_path = pg_catalog, lexichord_data, pg_temp as $$
    with called as materialized (
        select c.* from jsonb_to_recordset(calls) as c (
            key_id bigint, called_at timestamptz, kind text, datasets text[], status smallint, query text)
        where exists (select from api_key k where k.id = c.key_id)
    ), used as (
        update api_key k set last_used_at = u.at
        from (select c.key_id, max(c.called_at) as at from called c group by c.key_id) as u
        where k.id = u.key_id and (k.last_used_at > u.at - interval '1 minute') is not true  -- a busy key is not written all the time
    )
    insert into api_call (key_id, called_at, kind, datasets, status, query)
    select c.key_id, c.called_at, c.kind, c.datasets, c.status, c.query from called c where keep
$$;
comment on function lexichord.record_api_calls(jsonb, boolean) is
'Notes when API keys were last used, and with keep each call: [{"key_id", "called_at", "kind", "datasets", "status", "query"}], the last where its words are to be kept.';
revoke all on function lexichord.record_api_calls(jsonb, boolean) from public;
