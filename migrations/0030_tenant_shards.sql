-- Tenants over shards: what other shards hold is told by dataset as well, so that a tenant's scores go by its own alone.
create table lexichord_data.elsewhere_dataset (
    dataset_id       bigint primary key references lexichord_data.dataset on delete cascade,
    chunk_count      bigint not null,
    token_count      bigint not null,
    document_count   bigint not null,
    card_token_count bigint not null
);
create table lexichord_data.term_elsewhere_dataset (
    dataset_id bigint not null references lexichord_data.dataset on delete cascade,
    lexeme     text collate "C" not null,
    df         bigint not null,
    cards      bigint not null,
    primary key (lexeme, dataset_id)
);

-- As it is without tenants; see make_tenant_views.
create view lexichord_data.own_elsewhere with (security_invoker = true) as
select e.chunk_count, e.token_count, e.document_count, e.card_token_count from lexichord_data.elsewhere e;
create view lexichord_data.own_term_elsewhere with (security_invoker = true) as
select e.lexeme, e.df, e.cards from lexichord_data.term_elsewhere e;

create or replace view lexichord_data.global_statistics with (security_invoker = true) as
select n.chunk_count + e.chunk_count as chunk_count, n.token_count + e.token_count as token_count,
       n.document_count + e.document_count as document_count, n.card_token_count + e.card_token_count as card_token_count,
       n.average_length
from lexichord_data.corpus_statistics n, lexichord_data.own_elsewhere e;
create or replace view lexichord_data.global_term_statistics with (security_invoker = true) as
select t.id, t.lexeme, t.df + coalesce((select e.df from lexichord_data.own_term_elsewhere e where e.lexeme = t.lexeme), 0) as df
from lexichord_data.term_statistics t;
