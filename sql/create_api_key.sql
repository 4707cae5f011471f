create or replace function lexichord.create_api_key(
    name text, digest bytea, datasets text[] default null, writes boolean default false, deletes boolean default false,
    reads boolean default true, lasts interval default null, requests_per_minute integer default null
) returns table (
    key_id bigint, name text, datasets text[], reads boolean, writes boolean, deletes boolean, requests_per_minute integer,
    created_at timestamptz, expires_at timestamptz, revoked_at timestamptz, last_used_at timestamptz, renews bigint, valid boolean)
language sql set search_path = pg_catalog, lexichord_data, pg_temp as $$
    insert into api_key as k (name, digest, datasets, writes, deletes, reads, lasts, expires_at, requests_per_minute)
    values (create_api_key.name, create_api_key.digest, create_api_key.datasets, create_api_key.writes, create_api_key.deletes,
            create_api_key.reads, create_api_key.lasts, now() + create_api_key.lasts, create_api_key.requests_per_minute)
    returning k.id, k.name, k.datasets, k.reads, k.writes, k.deletes, k.requests_per_minute,
              k.created_at, k.expires_at, k.revoked_at, k.last_used_at, k.renews, true
$$;
comment on function lexichord.create_api_key(text, bytea, text[], boolean, boolean, boolean, interval, integer) is
'Keeps a new API key: the SHA-256 of its secret, the datasets that it reaches (null = all), what it may do to them, how long it lasts (null = for good) and how many requests a minute it may send (null = any number).';
revoke all on function lexichord.create_api_key(text, bytea, text[], boolean, boolean, boolean, interval, integer) from public;
