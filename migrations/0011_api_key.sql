-- Who may ask over the network. The secret itself is kept nowhere: 256 random bits need no slow hash.
create table lexichord_data.api_key (
    id         bigint generated always as identity primary key,
    name       text not null check (name <> ''),
    digest     bytea not null unique check (octet_length(digest) = 32),  -- SHA-256 of the secret
    datasets   text[] check (cardinality(datasets) > 0),                 -- null = all, also later ones
    writes     boolean not null,
    created_at timestamptz not null default now(),
    revoked_at timestamptz
);
revoke all on lexichord_data.api_key from public;
