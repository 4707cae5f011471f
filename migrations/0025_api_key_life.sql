-- Keys end, are renewed, may read, write and delete apart, and are asked with so many requests a minute.
alter table lexichord_data.api_key
    add column reads               boolean not null default true,
    add column deletes             boolean,
    add column requests_per_minute integer check (requests_per_minute > 0),  -- null = any number
    add column lasts               interval check (lasts > interval '0'),    -- null = for good
    add column expires_at          timestamptz,
    add column last_used_at        timestamptz,
    add column renews              bigint references lexichord_data.api_key;  -- until that one ends both are valid
update lexichord_data.api_key set deletes = writes;  -- until now who wrote deleted, too
alter table lexichord_data.api_key alter column deletes set not null;
alter table lexichord_data.api_key add check (reads or writes or deletes);
create unique index api_key_renews on lexichord_data.api_key (renews) where revoked_at is null;

-- What keys were used for: no word of a question unless it is to be kept.
create table lexichord_data.api_call (
    id        bigint generated always as identity primary key,
    key_id    bigint not null references lexichord_data.api_key on delete cascade,
    called_at timestamptz not null,
    kind      text not null,
    datasets  text[],            -- null = all
    status    smallint not null,  -- HTTP's
    query     text               -- null = none, or not to be kept
);
create index api_call_called_at on lexichord_data.api_call (called_at);
revoke all on lexichord_data.api_call from public;
