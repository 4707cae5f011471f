create or replace function lexichord.create_api_key(
    name text, digest bytea, datasets text[] default null, writes boolean default false
) returns table (key_id bigint, name text, datasets text[], writes boolean, created_at timestamptz, revoked_at timestamptz)
language sql set search_path = pg_catalog, lexichord_data, pg_temp as $$
    insert into api_key as k (name, digest, datasets, writes)
    values (create_api_key.name, create_api_key.digest, create_api_key.datasets, create_api_key.writes)
    returning k.id, k.name, k.datasets, k.writes, k.created_at, k.revoked_at
$$;
comment on function lexichord.create_api_key(text, bytea, text[], boolean) is
'Keeps a new API key: the SHA-256 of its secret, the datasets that it reaches (null = all), and whether it may write to them.';
revoke all on function lexichord.create_api_key(text, bytea, text[], boolean) from public;
