-- Looked up by the digest, not the secret: what the index's comparison gives away in time says nothing
-- about the secret that made it.
create or replace function lexichord.find_api_key(digest bytea) returns table (
    key_id bigint, digest bytea, datasets text[], reads boolean, writes boolean, deletes boolean,
    requests_per_minute integer, expires_at timestamptz, expired boolean, tenant text, principals text[], has_tenants boolean, is_bound boolean)
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select k.id, k.digest, k.datasets, k.reads, k.writes, k.deletes, k.requests_per_minute, k.expires_at,
           coalesce(k.expires_at <= now(), false), t.name, k.principals, c.has_tenants, lexichord_data.is_bound()
    from configuration c, api_key k left join tenant t on t.id = k.tenant_id
    where k.digest = find_api_key.digest and k.revoked_at is null
$$;
comment on function lexichord.find_api_key(bytea) is
'The API key of a digest, if there is one that was not revoked; expired = its time is over, so that it is worth nothing. Where has_tenants, neither is one without a tenant, nor any that is shown to a role that policies do not bind (is_bound).';
revoke all on function lexichord.find_api_key(bytea) from public;
