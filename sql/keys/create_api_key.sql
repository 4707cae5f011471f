create or replace function lexichord.create_api_key(
    name text, digest bytea, datasets text[] default null, writes boolean default false, deletes boolean default false,
    reads boolean default true, lasts interval default null, requests_per_minute integer default null,
    tenant text default null, principals text[] default '{}'
) returns table (
    key_id bigint, name text, datasets text[], reads boolean, writes boolean, deletes boolean, requests_per_minute integer,
    created_at timestamptz, expires_at timestamptz, revoked_at timestamptz, last_used_at timestamptz, renews bigint, valid boolean, tenant text, principals text[])
language sql set search_path = pg_catalog, lexichord_data, pg_temp as $$
    insert into api_key as k (name, digest, datasets, writes, deletes, reads, lasts, expires_at, requests_per_minute, tenant_id, principals)
    select create_api_key.name, create_api_key.digest, create_api_key.datasets, create_api_key.writes, create_api_key.deletes,
           create_api_key.reads, create_api_key.lasts, now() + create_api_key.lasts, create_api_key.requests_per_minute,
           o.id, create_api_key.principals
    from (select (select t.id from tenant t where t.name = create_api_key.tenant) as id) as o
    where create_api_key.tenant is null or o.id is not null
    returning k.id, k.name, k.datasets, k.reads, k.writes, k.deletes, k.requests_per_minute,
              k.created_at, k.expires_at, k.revoked_at, k.last_used_at, k.renews, true, create_api_key.tenant, k.principals
$$;
comment on function lexichord.create_api_key(text, bytea, text[], boolean, boolean, boolean, interval, integer, text, text[]) is
'Keeps a new API key: the SHA-256 of its secret, the datasets that it reaches (null = all), what it may do to them, how long it lasts (null = for good), how many requests a minute it may send (null = any number), and whose: the key of a tenant only reads, of documents with principals those with one of these. No row: there is no such tenant.';
revoke all on function lexichord.create_api_key(text, bytea, text[], boolean, boolean, boolean, interval, integer, text, text[]) from public;
