-- Shards: each a complete database. The home one lists them; each keeps how much the others hold, so that what is rare is
-- rare among all documents, and a score means the same on every shard.
create table lexichord_data.shard (
    number   integer primary key check (number between 1 and 31),  -- of 64 bits of an id 48 count: see shard_of in types/ids.py
    dsn      text not null unique check (dsn <> ''),                -- without a password
    added_at timestamptz not null default now()
);
create table lexichord_data.elsewhere (
    is_only          boolean primary key default true check (is_only),
    chunk_count      bigint not null default 0,
    token_count      bigint not null default 0,
    document_count   bigint not null default 0,
    card_token_count bigint not null default 0
);
insert into lexichord_data.elsewhere default values;
create table lexichord_data.term_elsewhere (
    lexeme text collate "C" primary key,
    df     bigint not null,
    cards  bigint not null
);

-- Of all shards: what is here, by the views of before, and what was elsewhere when shards were last told.
create view lexichord_data.global_statistics with (security_invoker = true) as
select n.chunk_count + e.chunk_count as chunk_count, n.token_count + e.token_count as token_count,
       n.document_count + e.document_count as document_count, n.card_token_count + e.card_token_count as card_token_count,
       n.average_length
from lexichord_data.corpus_statistics n, lexichord_data.elsewhere e;
create view lexichord_data.global_term_statistics with (security_invoker = true) as
select t.id, t.lexeme, t.df + coalesce((select e.df from lexichord_data.term_elsewhere e where e.lexeme = t.lexeme), 0) as df
from lexichord_data.term_statistics t;
