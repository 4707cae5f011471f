-- Statistics for exact BM25 and for relevance feedback. Triggers keep them true inside the writer's
-- own transaction, whoever writes.

-- df = chunks that hold the lexeme. Ids are dense: VectorChord's bm25vector is an array up to the largest.
create table lexichord_data.term (
    id     integer generated always as identity primary key,
    lexeme text collate "C" not null unique,
    df     bigint not null default 0
);

-- The document card: title twice, the file's name and the first 1,500 characters.
create table lexichord_data.card_term (
    lexeme      text collate "C" not null,
    document_id bigint not null references lexichord_data.document on delete cascade,
    tf          integer not null,
    primary key (lexeme, document_id)
);
create index card_term_document on lexichord_data.card_term (document_id);

create table lexichord_data.corpus (
    only_row         boolean primary key default true check (only_row),
    chunk_count      bigint not null default 0,
    token_count      bigint not null default 0,
    document_count   bigint not null default 0,
    card_token_count bigint not null default 0
);
insert into lexichord_data.corpus default values;

-- Adds each lexeme's change in df. Rows are locked in one order, so that writers cannot deadlock;
-- known lexemes are not inserted again, because a conflict would burn an id.
create function lexichord_data.add_terms(lexemes text[], changes bigint[]) returns void
language sql set search_path = lexichord_data, pg_catalog, pg_temp as $$
    insert into lexichord_data.term (lexeme)
    select c.lexeme from unnest(lexemes) as c (lexeme)
    where not exists (select from lexichord_data.term t where t.lexeme = c.lexeme)
    order by c.lexeme collate "C"
    on conflict (lexeme) do nothing;

    with change as (
        select t.id, c.change
        from unnest(lexemes, changes) as c (lexeme, change)
        join lexichord_data.term t on t.lexeme = c.lexeme
        where c.change <> 0
        order by t.id
        for update of t
    )
    update lexichord_data.term t set df = t.df + change.change from change where t.id = change.id;
$$;

-- Every writer locks the corpus row first and the terms after it: one order, no deadlock.
create function lexichord_data.count_chunks() returns trigger
language plpgsql set search_path = lexichord_data, pg_catalog, pg_temp as $$
declare
    sign integer := case tg_op when 'INSERT' then 1 else -1 end;
    lexemes text[];
    changes bigint[];
begin
    update lexichord_data.corpus c
    set chunk_count = c.chunk_count + sign * s.chunks, token_count = c.token_count + sign * s.tokens
    from (select count(*) as chunks, sum(token_count) as tokens from changed) as s
    where s.chunks > 0;
    select array_agg(lexeme), array_agg(change) into lexemes, changes
    from (select u.lexeme, sign * count(*) as change
          from changed, unnest(changed.lexemes) as u group by u.lexeme) as terms;
    if lexemes is not null then
        perform lexichord_data.add_terms(lexemes, changes);
    end if;
    return null;
end $$;

create trigger count_inserted after insert on lexichord_data.chunk
    referencing new table as changed for each statement execute function lexichord_data.count_chunks();
create trigger count_deleted after delete on lexichord_data.chunk
    referencing old table as changed for each statement execute function lexichord_data.count_chunks();

create function lexichord_data.count_document() returns trigger
language plpgsql set search_path = lexichord_data, pg_catalog, pg_temp as $$
begin
    update lexichord_data.corpus c
    set document_count = c.document_count + (tg_op = 'INSERT')::int - (tg_op = 'DELETE')::int,
        card_token_count = c.card_token_count
            + case when tg_op = 'DELETE' then 0 else new.card_length end
            - case when tg_op = 'INSERT' then 0 else old.card_length end;
    return case tg_op when 'DELETE' then old else new end;
end $$;

-- Before the row, so that the corpus is locked ahead of what a cascade deletes.
create trigger count_document before insert or delete or update of card_length
    on lexichord_data.document for each row execute function lexichord_data.count_document();
