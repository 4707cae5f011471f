create or replace function lexichord.list_api_keys() returns table (
    key_id bigint, name text, datasets text[], reads boolean, writes boolean, deletes boolean, requests_per_minute integer,
    created_at timestamptz, expires_at timestamptz, revoked_at timestamptz, last_used_at timestamptz, renews bigint, valid boolean, tenant text, principals text[])
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select k.id, k.name, k.datasets, k.reads, k.writes, k.deletes, k.requests_per_minute,
              k.created_at, k.expires_at, k.revoked_at, k.last_used_at, k.renews,
           k.revoked_at is null and (k.expires_at > now()) is not false,
           t.name, k.principals
    from api_key k left join tenant t on t.id = k.tenant_id order by k.id
$$;
comment on function lexichord.list_api_keys() is
'The API keys, the revoked and the expired ones too, without their digests; last_used_at is behind by up to a minute, renews = the key in whose place this one was made.';
revoke all on function lexichord.list_api_keys() from public;
