create or replace function lexichord.revoke_api_key(key bigint) returns boolean
language sql set search_path = pg_catalog, lexichord_data, pg_temp as $$
    with revoked as (
        update api_key set revoked_at = now() where id = key and revoked_at is null returning 1)
    select exists (select from revoked)
$$;
comment on function lexichord.revoke_api_key(bigint) is 'Makes an API key worthless for good; false if it is not there, or was revoked before.';
revoke all on function lexichord.revoke_api_key(bigint) from public;
