create or replace function lexichord.rotate_api_key(key bigint, digest bytea, overlap interval) returns table (
    key_id bigint, name text, datasets text[], reads boolean, writes boolean, deletes boolean, requests_per_minute integer,
    created_at timestamptz, expires_at timestamptz, revoked_at timestamptz, last_used_at timestamptz, renews bigint, valid boolean, tenant text, principals text[])
language sql set search_path = pg_catalog, lexichord_data, pg_temp as $$
    with old as (
        update api_key k set expires_at = least(k.expires_at, now() + overlap)
        where k.id = key and k.revoked_at is null and (k.expires_at > now()) is not false
          and not exists (select from api_key n where n.renews = k.id and n.revoked_at is null)
        returning k.*
    )
    insert into api_key as k (name, digest, datasets, writes, deletes, reads, lasts, expires_at, requests_per_minute, renews, tenant_id, principals)
    select o.name, rotate_api_key.digest, o.datasets, o.writes, o.deletes, o.reads, o.lasts, now() + o.lasts, o.requests_per_minute, o.id, o.tenant_id, o.principals
    from old o
    returning k.id, k.name, k.datasets, k.reads, k.writes, k.deletes, k.requests_per_minute,
              k.created_at, k.expires_at, k.revoked_at, k.last_used_at, k.renews, true,
              (select t.name from tenant t where t.id = k.tenant_id), k.principals
$$;
comment on function lexichord.rotate_api_key(bigint, bytea, interval) is
'Keeps a new secret for what a valid API key may do, for as long as that one was made for; the old one ends after the overlap, or when it would have ended. No row: there is no valid key of that number, or another renews it already.';
revoke all on function lexichord.rotate_api_key(bigint, bytea, interval) from public;
