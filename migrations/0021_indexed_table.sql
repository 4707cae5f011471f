-- Tables of the user's that are indexed row by row: how a row becomes a document, what changed, what failed.

create table lexichord_data.indexed_table (
    id             integer generated always as identity primary key,
    relation       regclass not null unique,
    -- A dump writes names: restored, `relation` is another oid than this, and columns go by their names again.
    relation_oid   oid not null,
    name           text not null,  -- as it was written last, for when it is gone
    dataset        text not null unique check (dataset <> ''),
    key            text[] not null check (key <> '{}'),
    content        text[] not null check (content <> '{}'),
    title          text,
    context        text[] not null default '{}',
    metadata       text[] not null default '{}',
    filter         text,
    filter_columns text[] not null default '{}',
    uri            text,
    numbers        jsonb not null,  -- attnum by column: a column that is renamed stays known
    statements     text[],          -- of the triggers, made once: see table_statements
    partitions     oid[] not null default '{}',
    is_guarded     boolean not null default false,  -- row-level security holds for its rows
    fault          text,            -- why its changes wait
    created_at     timestamptz not null default now()
);

create table lexichord_data.table_row (
    document_id bigint primary key references lexichord_data.document on delete cascade,
    table_id    integer not null references lexichord_data.indexed_table on delete cascade,
    key         text not null,
    unique (table_id, key)
);

-- A change is one statement's keys, not one row's: 100,000 updated rows are one row here. Rows are inserted, locked and
-- deleted, never updated. Without keys it stands for the whole table, from `after` on.
create table lexichord_data.table_change (
    id         bigint generated always as identity primary key,
    table_id   integer not null,
    priority   smallint not null default 0,  -- 1: many rows at once, which wait for what somebody just wrote
    keys       text[],
    after      text,
    changed_at timestamptz not null default clock_timestamp()
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
        autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 10000);
alter table lexichord_data.table_change alter column keys set storage external;  -- compressing takes longer than writing
create index table_change_order on lexichord_data.table_change (priority, id);

-- Rows that cannot be stored; the next change of a row tries it again.
create table lexichord_data.table_failure (
    table_id  integer not null references lexichord_data.indexed_table on delete cascade,
    key       text not null,
    reason    text not null,
    attempts  integer not null default 1,
    failed_at timestamptz not null default now(),
    primary key (table_id, key)
);

-- Who changes a table notifies only while a worker rests: NOTIFY has commits wait for each other.
create table lexichord_data.worker (
    id            bigint generated always as identity primary key,
    host          text not null,
    started_at    timestamptz not null default now(),
    seen_at       timestamptz not null default now(),
    resting_until timestamptz
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 100);

-- The names by now of columns, null for those that are gone.
create or replace function lexichord_data.current_columns(source lexichord_data.indexed_table, names text[]) returns text[]
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select coalesce(array_agg((
        select a.attname::text from pg_attribute a
        where a.attrelid = source.relation and a.attnum > 0 and not a.attisdropped
          and case when source.relation_oid = source.relation::oid then a.attnum = (source.numbers ->> u.name)::smallint
                   else a.attname = u.name end) order by u.place), '{}')
    from unnest(names) with ordinality as u (name, place)
$$;

-- What a key's column is compared and written as: the type below a domain.
create or replace function lexichord_data.key_type(relation regclass, name text) returns regtype
language sql stable set search_path = pg_catalog, pg_temp as $$
    with recursive type as (
        select t.oid, t.typtype, t.typbasetype from pg_attribute a join pg_type t on t.oid = a.atttypid
        where a.attrelid = relation and a.attname = name
        union all
        select t.oid, t.typtype, t.typbasetype from type d join pg_type t on t.oid = d.typbasetype where d.typtype = 'd'
    )
    select t.oid::regtype from type t where t.typtype <> 'd'
$$;

-- The text of a row's key, whatever the settings of the session: of several columns a JSON array of their texts.
create or replace function lexichord_data.key_expression(relation regclass, names text[], row_name text) returns text
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    with part as (
        select u.place, case lexichord_data.key_type(relation, u.name)
            when 'timestamptz'::regtype then format('to_char(%s.%I at time zone ''UTC'', ''YYYY-MM-DD"T"HH24:MI:SS.US"Z"'')', row_name, u.name)
            when 'timestamp'::regtype then format('to_char(%s.%I, ''YYYY-MM-DD"T"HH24:MI:SS.US'')', row_name, u.name)
            when 'date'::regtype then format('to_char(%s.%I, ''YYYY-MM-DD'')', row_name, u.name)
            else format('%s.%I::text', row_name, u.name) end as expression
        from unnest(names) with ordinality as u (name, place)
    )
    select case when count(*) = 1 then min(p.expression)
                else format('jsonb_build_array(%s)::text', string_agg(p.expression, ', ' order by p.place)) end
    from part p
$$;

-- A key's columns out of its text, each of its type.
create or replace function lexichord_data.key_values(relation regclass, names text[], key text) returns text
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select string_agg(format('(%s)::%s',
               case when cardinality(names) = 1 then key else format('%s::jsonb ->> %s', key, u.place - 1) end,
               lexichord_data.key_type(relation, u.name)), ', ' order by u.place)
    from unnest(names) with ordinality as u (name, place)
$$;

create or replace function lexichord_data.row_columns(names text[], row_name text) returns text
language sql immutable set search_path = pg_catalog, pg_temp as $$
    select string_agg(format('%s.%I', row_name, u.name), ', ' order by u.place) from unnest(names) with ordinality as u (name, place)
$$;

-- The columns but its key that a row's document is made of, as far as they are there.
create or replace function lexichord_data.compared_columns(source lexichord_data.indexed_table) returns text[]
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select array(select distinct c.name from unnest(lexichord_data.current_columns(
        source, source.content || source.title || source.context || source.metadata || source.filter_columns)) as c (name)
        where c.name is not null)
$$;

create or replace function lexichord_data.add_change(table_id integer, keys text[]) returns void
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
begin
    insert into table_change (table_id, keys) values (add_change.table_id, add_change.keys);
    if exists (select from worker w where w.resting_until > clock_timestamp()) then
        notify lexichord;
    end if;
end $$;

-- The triggers run as the owner, so that who writes into the table needs no right on ours; so nothing of the user's is
-- called here: keys are of Postgres' own types, other columns are compared by their bytes.

-- What the triggers ask: the keys of inserted, of deleted and of updated rows, the latter where values differ or of all.
-- Making them takes longer than a small statement does. null = the key is gone.
create or replace function lexichord_data.table_statements(source lexichord_data.indexed_table) returns text[]
language plpgsql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    key text[] := lexichord_data.current_columns(source, source.key);
    old_key text := lexichord_data.key_expression(source.relation, key, 'o');
    new_key text := lexichord_data.key_expression(source.relation, key, 'n');
begin
    if array_position(key, null) is not null then
        return null;
    end if;
    return array[
        format('select array_agg(%s) from new_rows as n', new_key),
        format('select array_agg(%s) from old_rows as o', old_key),
        format('select array_agg(coalesce(%s, %s)) from old_rows as o full join new_rows as n on (%s) = (%s) '
               'where o.%I is null or n.%5$I is null or record_image_ne(row(%6$s), row(%7$s))',
               new_key, old_key, lexichord_data.row_columns(key, 'o'), lexichord_data.row_columns(key, 'n'), key[1],
               lexichord_data.row_columns(lexichord_data.compared_columns(source), 'o'),
               lexichord_data.row_columns(lexichord_data.compared_columns(source), 'n')),
        -- the same rows in the same order, unless keys were changed
        format('select case when o.keys = n.keys then n.keys else o.keys || n.keys end '
               'from (select array_agg(%s) as keys from old_rows as o) as o, (select array_agg(%s) as keys from new_rows as n) as n',
               old_key, new_key)];
end $$;

-- They depend on no column of the table, which would keep it from being dropped or changed in its type.
create or replace function lexichord_data.queue_statement() returns trigger
language plpgsql security definer set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    few constant integer := 100;  -- rows of an update that are compared here; comparing more would take its writer too long
    source indexed_table;
    statements text[];
    wanted integer := case tg_op when 'INSERT' then 1 when 'DELETE' then 2 else 3 end;
    changed text[];
begin
    select * into source from indexed_table t where t.id = tg_argv[0]::integer;
    statements := source.statements;
    if source.relation_oid <> tg_relid or exists (
        select from jsonb_each(source.numbers) as n (name, number) where not exists (
            select from pg_attribute a where a.attrelid = tg_relid and a.attnum = n.number::smallint and a.attname = n.name)) then
        statements := lexichord_data.table_statements(source);
    end if;
    if statements is null then
        return null;  -- the worker says so: nobody's write fails for it
    elsif tg_op = 'UPDATE' then
        wanted := case when (select count(*) from (select from new_rows limit few + 1) as n) > few then 4 else 3 end;
    end if;
    if tg_op <> 'TRUNCATE' then
        execute statements[wanted] into changed;
    end if;
    if changed is not null or tg_op = 'TRUNCATE' then
        insert into table_change (table_id, keys, priority) values (source.id, changed, case when cardinality(changed) > few then 1 else 0 end);
        if exists (select from worker w where w.resting_until > clock_timestamp()) then
            notify lexichord;
        end if;
    end if;
    return null;
end $$;

-- Of a partitioned table: a statement's triggers do not see what is written into a partition itself.
create or replace function lexichord_data.queue_row() returns trigger
language plpgsql security definer set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    source indexed_table;
    key text[];
    expression text;
    before text;
    after text;
    is_changed boolean := true;
begin
    select * into source from indexed_table t where t.id = tg_argv[0]::integer;
    key := lexichord_data.current_columns(source, source.key);
    if source.id is null or array_position(key, null) is not null then
        return null;
    end if;
    expression := lexichord_data.key_expression(source.relation, key, '($1)');
    if tg_op <> 'INSERT' then
        execute 'select ' || expression into before using old;
    end if;
    if tg_op <> 'DELETE' then
        execute 'select ' || expression into after using new;
    end if;
    if before = after then
        execute format('select record_image_ne(row(%s), row(%s))',
                       lexichord_data.row_columns(lexichord_data.compared_columns(source), '($1)'),
                       lexichord_data.row_columns(lexichord_data.compared_columns(source), '($2)')) into is_changed using old, new;
    end if;
    if is_changed then
        perform lexichord_data.add_change(source.id, array(select distinct k from unnest(array[before, after]) as k where k is not null));
    end if;
    return null;
end $$;

-- Documents of rows that row-level security hides from the caller, or that it may not read at all.
create or replace function lexichord_data.hidden_documents() returns setof bigint
language plpgsql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    source indexed_table;
begin
    for source in select t.* from indexed_table t where t.is_guarded loop
        if not has_table_privilege(source.relation, 'select') then
            return query select r.document_id from table_row r where r.table_id = source.id;
        else
            return query execute format(
                'select r.document_id from lexichord_data.table_row r where r.table_id = $1 and not exists (select from %s as a where %s = r.key)',
                source.relation, lexichord_data.key_expression(source.relation, lexichord_data.current_columns(source, source.key), 'a'))
                using source.id;
        end if;
    end loop;
end $$;

-- In force once a table with row-level security is indexed (guard_documents), for all but the owner.
create policy seen on lexichord_data.document for select using (id not in (select lexichord_data.hidden_documents()));
create policy seen on lexichord_data.chunk for select using (document_id not in (select lexichord_data.hidden_documents()));
create policy seen on lexichord_data.card_term for select using (document_id not in (select lexichord_data.hidden_documents()));
create policy added on lexichord_data.document for insert with check (true);
create policy added on lexichord_data.chunk for insert with check (true);
create policy added on lexichord_data.card_term for insert with check (true);
create policy changed on lexichord_data.document for update using (true);
create policy changed on lexichord_data.chunk for update using (true);
create policy deleted on lexichord_data.document for delete using (true);
create policy deleted on lexichord_data.chunk for delete using (true);
create policy deleted on lexichord_data.card_term for delete using (true);

-- Questions that SQL wants embedded, and their vectors once a worker has made them.
create table lexichord_data.query_vector (
    space        text not null,
    digest       bytea not null,
    query        text not null,
    embedding    real[],
    fault        text,
    requested_at timestamptz not null default clock_timestamp(),
    primary key (space, digest)
);
create index query_vector_waiting on lexichord_data.query_vector (requested_at) where embedding is null and fault is null;
create index query_vector_age on lexichord_data.query_vector (requested_at);
