-- Statistics by dataset. What writers change is appended, so that none waits for another, and added up now and then
-- (fold_statistics); the views are what was added up and what was appended since.

create table lexichord_data.dataset_count (
    dataset_id       bigint primary key,
    chunk_count      bigint not null,
    token_count      bigint not null,
    document_count   bigint not null,
    card_token_count bigint not null
);
create table lexichord_data.term_count (
    term_id    integer,
    dataset_id bigint,
    df         bigint not null,
    primary key (term_id, dataset_id)
);

create table lexichord_data.dataset_change (like lexichord_data.dataset_count);
-- Read by each search and emptied with each fold: vacuumed by how much came, not by how large it is.
create table lexichord_data.term_change (term_id integer not null, dataset_id bigint not null, df bigint not null)
    with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000);
create index term_change_term on lexichord_data.term_change (term_id);

insert into lexichord_data.dataset_count
select d.dataset_id, coalesce(c.chunks, 0), coalesce(c.tokens, 0), d.documents, d.card_tokens
from (select dataset_id, count(*) as documents, sum(card_length) as card_tokens from lexichord_data.document group by 1) as d
left join (select dataset_id, count(*) as chunks, sum(token_count) as tokens from lexichord_data.chunk group by 1) as c
     using (dataset_id);
insert into lexichord_data.term_count
select t.id, h.dataset_id, h.df
from (select c.dataset_id, u.lexeme, count(*) as df from lexichord_data.chunk c, unnest(c.lexemes) as u group by 1, 2) as h
join lexichord_data.term t on t.lexeme = h.lexeme collate "C";

-- Of the whole collection: the sums over all datasets.
create view lexichord_data.corpus_statistics with (security_invoker = true) as
select n.chunk_count + c.chunk_count as chunk_count, n.token_count + c.token_count as token_count,
       n.document_count + c.document_count as document_count, n.card_token_count + c.card_token_count as card_token_count,
       n.average_length
from lexichord_data.corpus n, (
    select coalesce(sum(d.chunk_count), 0)::bigint as chunk_count, coalesce(sum(d.token_count), 0)::bigint as token_count,
           coalesce(sum(d.document_count), 0)::bigint as document_count, coalesce(sum(d.card_token_count), 0)::bigint as card_token_count
    from lexichord_data.dataset_change d) as c;
create view lexichord_data.term_statistics with (security_invoker = true) as
select t.id, t.lexeme, t.df + coalesce((select sum(c.df) from lexichord_data.term_change c where c.term_id = t.id), 0)::bigint as df
from lexichord_data.term t;

-- Writers share this lock, and whoever needs them to stand still takes it alone: see hold_writers. Locks are granted in
-- the order of their requests, so writers that keep coming do not starve it.
create or replace function lexichord_data.join_writers() returns void
language sql set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select pg_advisory_xact_lock_shared(hashtextextended('lexichord.write', 0))
$$;

-- In one order, so that two writers of the same new lexemes wait, but not for each other. Known ones are not inserted
-- again, because a conflict would burn an id.
drop function if exists lexichord_data.add_terms(text[], bigint[]);
create or replace function lexichord_data.add_terms(lexemes text[]) returns void
language sql set search_path = pg_catalog, lexichord_data, pg_temp as $$
    insert into term (lexeme)
    select distinct c.lexeme collate "C" from unnest(lexemes) as c (lexeme)
    where not exists (select from term t where t.lexeme = c.lexeme)
    order by 1
    on conflict (lexeme) do nothing
$$;

create or replace function lexichord_data.count_chunks() returns trigger
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    sign integer := case tg_op when 'INSERT' then 1 else -1 end;
begin
    perform lexichord_data.join_writers();
    insert into dataset_change
    select c.dataset_id, sign * count(*), sign * sum(c.token_count), 0, 0 from changed c group by c.dataset_id;
    if tg_op = 'INSERT' then
        perform lexichord_data.add_terms(array(select distinct u.lexeme from changed c, unnest(c.lexemes) as u));
    end if;
    insert into term_change (term_id, dataset_id, df)
    select t.id, h.dataset_id, sign * h.df
    from (select c.dataset_id, u.lexeme, count(*) as df from changed c, unnest(c.lexemes) as u group by 1, 2) as h
    join lateral (select t.id from term t where t.lexeme = h.lexeme collate "C" offset 0) as t on true;
    return null;
end $$;

create or replace function lexichord_data.count_document() returns trigger
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
begin
    perform lexichord_data.join_writers();
    if tg_op <> 'INSERT' then
        insert into dataset_change values (old.dataset_id, 0, 0, -1, -old.card_length);
    end if;
    if tg_op <> 'DELETE' then
        insert into dataset_change values (new.dataset_id, 0, 0, 1, new.card_length);
    end if;
    return case tg_op when 'DELETE' then old else new end;
end $$;
-- A row that "on conflict do nothing" leaves out is not counted. Deletes come first, ahead of what they cascade to.
create or replace trigger count_document after insert or update of card_length, dataset_id
    on lexichord_data.document for each row execute function lexichord_data.count_document();
create or replace trigger count_deleted before delete
    on lexichord_data.document for each row execute function lexichord_data.count_document();
