-- Looked up by the digest, not the secret: what the index's comparison gives away in time says nothing
-- about the secret that made it.
create or replace function lexichord.find_api_key(digest bytea) returns table (
    key_id bigint, digest bytea, datasets text[], reads boolean, writes boolean, deletes boolean,
    requests_per_minute integer, expires_at timestamptz, expired boolean)
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select k.id, k.digest, k.datasets, k.reads, k.writes, k.deletes, k.requests_per_minute, k.expires_at,
           coalesce(k.expires_at <= now(), false)
    from api_key k
    where k.digest = find_api_key.digest and k.revoked_at is null
$$;
comment on function lexichord.find_api_key(bytea) is
'The API key of a digest, if there is one that was not revoked; expired = its time is over, so that it is worth nothing.';
revoke all on function lexichord.find_api_key(bytea) from public;
