-- Looked up by the digest, not the secret: what the index's comparison gives away in time says nothing
-- about the secret that made it.
create or replace function lexichord.find_api_key(digest bytea) returns table (
    key_id bigint, digest bytea, datasets text[], writes boolean)
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select k.id, k.digest, k.datasets, k.writes from api_key k
    where k.digest = find_api_key.digest and k.revoked_at is null
$$;
comment on function lexichord.find_api_key(bytea) is 'The valid API key of a digest, if there is one.';
revoke all on function lexichord.find_api_key(bytea) from public;
