create or replace function lexichord.list_api_keys() returns table (
    key_id bigint, name text, datasets text[], writes boolean, created_at timestamptz, revoked_at timestamptz)
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select k.id, k.name, k.datasets, k.writes, k.created_at, k.revoked_at from api_key k order by k.id
$$;
comment on function lexichord.list_api_keys() is 'The API keys, the revoked ones too, without their digests.';
revoke all on function lexichord.list_api_keys() from public;
