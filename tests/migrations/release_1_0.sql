-- pg_dump --inserts --rows-per-insert=1000 --no-owner --no-acl of schema lexichord_data of a plain database of 1.0.0,
-- without comments and most settings, with the documents and the key of test_release.py.
SET check_function_bodies = false;
SELECT pg_catalog.set_config('search_path', '', false);
CREATE SCHEMA lexichord_data;
CREATE TABLE lexichord_data.indexed_table (
    id integer NOT NULL,
    relation regclass NOT NULL,
    relation_oid oid NOT NULL,
    name text NOT NULL,
    dataset text NOT NULL,
    key text[] NOT NULL,
    content text[] NOT NULL,
    title text,
    context text[] DEFAULT '{}'::text[] NOT NULL,
    metadata text[] DEFAULT '{}'::text[] NOT NULL,
    filter text,
    filter_columns text[] DEFAULT '{}'::text[] NOT NULL,
    uri text,
    numbers jsonb NOT NULL,
    partitions oid[] DEFAULT '{}'::oid[] NOT NULL,
    is_guarded boolean DEFAULT false NOT NULL,
    fault text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT indexed_table_content_check CHECK ((content <> '{}'::text[])),
    CONSTRAINT indexed_table_dataset_check CHECK ((dataset <> ''::text)),
    CONSTRAINT indexed_table_key_check CHECK ((key <> '{}'::text[]))
);
CREATE TABLE lexichord_data.table_change (
    id bigint NOT NULL,
    table_id integer NOT NULL,
    priority smallint DEFAULT 0 NOT NULL,
    keys text[],
    after text,
    changed_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_insert_scale_factor='0', autovacuum_vacuum_insert_threshold='10000');
ALTER TABLE ONLY lexichord_data.table_change ALTER COLUMN keys SET STORAGE EXTERNAL;
CREATE FUNCTION lexichord_data.add_change(table_id integer, keys text[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
begin
    insert into table_change (table_id, keys) values (add_change.table_id, add_change.keys);
    if exists (select from worker w where w.resting_until > clock_timestamp()) then
        notify lexichord;
    end if;
end $$;
CREATE FUNCTION lexichord_data.add_inserted_keywords() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    SET extra_float_digits TO '1'
    AS $$
begin
    insert into keyword (chunk_id, document_id, impacts)
    select c.id, c.document_id, i
    from lexichord_data.average_length() as a (average_length), changed c,
         lexichord_data.impact_vector(c.lexemes, c.token_count, a.average_length) as i
    where c.lexemes <> ''::tsvector;
    return null;
end $$;
CREATE FUNCTION lexichord_data.add_keywords(chunk_ids bigint[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    SET extra_float_digits TO '1'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET jit TO 'off'
    AS $$
begin
    insert into keyword (chunk_id, document_id, impacts)
    select c.id, c.document_id, i
    from lexichord_data.average_length() as a (average_length), unnest(chunk_ids) as wanted (id) join chunk c on c.id = wanted.id,
         lexichord_data.impact_vector(c.lexemes, c.token_count, a.average_length) as i
    where c.lexemes <> ''::tsvector;
end $$;
CREATE FUNCTION lexichord_data.add_missing_keywords() RETURNS void
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    select lexichord_data.add_keywords(array(
        select c.id from chunk c
        where c.lexemes <> ''::tsvector and not exists (select from keyword k where k.chunk_id = c.id)))
$$;
CREATE FUNCTION lexichord_data.add_terms(lexemes text[]) RETURNS void
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    insert into term (lexeme)
    select distinct c.lexeme collate "C" from unnest(lexemes) as c (lexeme)
    where not exists (select from term t where t.lexeme = c.lexeme)
    order by 1
    on conflict (lexeme) do nothing
$$;
CREATE FUNCTION lexichord_data.add_to_tail() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
begin
    insert into keyword_tail (chunk_id) select c.chunk_id from changed c on conflict do nothing;
    return null;
end $$;
CREATE FUNCTION lexichord_data.average_length() RETURNS double precision
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
declare
    average double precision := (select n.average_length from corpus n);
begin
    if average is null then
        update corpus n set average_length = c.token_count::float8 / c.chunk_count
        from corpus_statistics c where n.average_length is null and c.token_count > 0;
        average := (select n.average_length from corpus n);  -- perhaps another writer's
    end if;
    return average;
end $$;
CREATE FUNCTION lexichord_data.bm25_parameters(OUT k1 double precision, OUT b double precision) RETURNS record
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select 0.9::float8, 0.4::float8
$$;
CREATE FUNCTION lexichord_data.compared_columns(source lexichord_data.indexed_table) RETURNS text[]
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    select array(select distinct c.name from unnest(lexichord_data.current_columns(
        source, source.content || source.title || source.context || source.metadata || source.filter_columns)) as c (name)
        where c.name is not null)
$$;
CREATE FUNCTION lexichord_data.count_chunks() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
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
CREATE FUNCTION lexichord_data.count_document() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
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
CREATE FUNCTION lexichord_data.current_columns(source lexichord_data.indexed_table, names text[]) RETURNS text[]
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    select coalesce(array_agg((
        select a.attname::text from pg_attribute a
        where a.attrelid = source.relation and a.attnum > 0 and not a.attisdropped
          and case when source.relation_oid = source.relation::oid then a.attnum = (source.numbers ->> u.name)::smallint
                   else a.attname = u.name end) order by u.place), '{}')
    from unnest(names) with ordinality as u (name, place)
$$;
CREATE FUNCTION lexichord_data.drop_from_tail() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
begin
    delete from keyword_tail t using changed c where t.chunk_id = c.chunk_id;
    return null;
end $$;
CREATE FUNCTION lexichord_data.fill_principals() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $_$
declare
    given jsonb := new.metadata -> 'principals';
begin
    if jsonb_typeof(given) = 'string' then
        given := jsonb_build_array(given);
    elsif jsonb_typeof(given) <> 'array' or jsonb_path_exists(given, '$[*] ? (@.type() != "string")') then
        raise exception 'metadata: principals is a text or a list of texts, not %', given using errcode = 'invalid_parameter_value';
    end if;
    new.principals := case when given is not null then array(select jsonb_array_elements_text(given)) end;
    return new;
end $_$;
CREATE FUNCTION lexichord_data.forget_contexts() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
begin
    delete from chunk_context c using gone g where (c.dataset_id, c.uri) = (g.dataset_id, g.uri);
    return null;
end $$;
CREATE FUNCTION lexichord_data.forget_other_vector() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    new.other_embedding := null;
    return new;
end $$;
CREATE FUNCTION lexichord_data.hidden_documents() RETURNS SETOF bigint
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $_$
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
end $_$;
CREATE FUNCTION lexichord_data.impact(tf integer, token_count bigint, average_length double precision, k1 double precision, b double precision) RETURNS double precision
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (((tf)::double precision * (k1 + (1)::double precision)) / ((tf)::double precision + (k1 * (((1)::double precision - b) + ((b * (token_count)::double precision) / average_length)))));
CREATE TABLE lexichord_data.term (
    id integer NOT NULL,
    lexeme text NOT NULL COLLATE pg_catalog."C",
    df bigint DEFAULT 0 NOT NULL
);
CREATE FUNCTION lexichord_data.impact_vector(lexemes tsvector, token_count bigint, average_length double precision) RETURNS SETOF public.sparsevec
    LANGUAGE sql STABLE ROWS 1 PARALLEL SAFE
    BEGIN ATOMIC
 SELECT ((('{'::text || COALESCE(string_agg(((i.id || ':'::text) || (i.impact)::real), ','::text), ''::text)) || '}/1000000000'::text))::public.sparsevec AS sparsevec
    FROM ( SELECT t.id,
             lexichord_data.impact(cardinality(u.positions), impact_vector.token_count, impact_vector.average_length, p.k1, p.b) AS impact
            FROM lexichord_data.bm25_parameters() p(k1, b),
             (unnest(impact_vector.lexemes) u(lexeme, positions, weights)
              JOIN LATERAL ( SELECT t_1.id
                    FROM lexichord_data.term t_1
                   WHERE (t_1.lexeme = (u.lexeme COLLATE "C"))
                  OFFSET 0) t ON (true))
           ORDER BY (lexichord_data.impact(cardinality(u.positions), impact_vector.token_count, impact_vector.average_length, p.k1, p.b)) DESC, t.id
          LIMIT 16000) i;
END;
CREATE FUNCTION lexichord_data.is_bound() RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN false;
CREATE FUNCTION lexichord_data.join_writers() RETURNS void
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    select pg_advisory_xact_lock_shared(hashtextextended('lexichord.write', 0))
$$;
CREATE FUNCTION lexichord_data.key_expression(relation regclass, names text[], row_name text) RETURNS text
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
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
CREATE FUNCTION lexichord_data.key_type(relation regclass, name text) RETURNS regtype
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    with recursive type as (
        select t.oid, t.typtype, t.typbasetype from pg_attribute a join pg_type t on t.oid = a.atttypid
        where a.attrelid = relation and a.attname = name
        union all
        select t.oid, t.typtype, t.typbasetype from type d join pg_type t on t.oid = d.typbasetype where d.typtype = 'd'
    )
    select t.oid::regtype from type t where t.typtype <> 'd'
$$;
CREATE FUNCTION lexichord_data.key_values(relation regclass, names text[], key text) RETURNS text
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    select string_agg(format('(%s)::%s',
               case when cardinality(names) = 1 then key else format('%s::jsonb ->> %s', key, u.place - 1) end,
               lexichord_data.key_type(relation, u.name)), ', ' order by u.place)
    from unnest(names) with ordinality as u (name, place)
$$;
CREATE FUNCTION lexichord_data.make_queue_function(source lexichord_data.indexed_table) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    SET standard_conforming_strings TO 'on'
    AS $_$
declare
    statements text[] := lexichord_data.table_statements(source);
    numbers text := (select string_agg(format('(%s, %L)', n.number, n.name), ', ') from jsonb_each_text(source.numbers) as n (name, number));
begin
    execute format($function$
        create or replace function lexichord_data.queue_changes_%1$s() returns trigger
        language plpgsql security definer set search_path = pg_catalog, lexichord_data, pg_temp as $queue$
        declare
            statements text[];
            changed text[];
            before text[];
            is_large boolean := false;
            wakes boolean;
        begin
            if tg_op <> 'TRUNCATE' and (select count(*) from pg_attribute a
                                        where a.attrelid = tg_relid and (a.attnum, a.attname) in (%2$s)) <> %3$s then
                statements := (select lexichord_data.table_statements(t) from indexed_table t where t.id = %1$s);
                if statements is null then
                    return null;  -- the worker says so: nobody's write fails for it
                end if;
                if tg_op = 'UPDATE' then
                    execute statements[3] into changed, is_large;
                end if;
                if tg_op = 'INSERT' or is_large then
                    execute statements[1] into changed;
                end if;
                if tg_op = 'DELETE' or is_large then
                    execute statements[2] into before;
                end if;
            else
                if tg_op = 'UPDATE' then
                    %6$s into changed, is_large;
                end if;
                if tg_op = 'INSERT' or is_large then
                    changed := (%4$s);
                end if;
                if tg_op = 'DELETE' or is_large then
                    before := (%5$s);
                end if;
            end if;
            if before <> changed or changed is null then  -- the same rows in the same order, unless keys were changed
                changed := before || changed;
            end if;
            if changed is not null or tg_op = 'TRUNCATE' then
                insert into table_change (table_id, keys, priority)
                values (%1$s, changed, case when cardinality(changed) > %7$s then 1 else 0 end)
                returning exists (select from worker w where w.resting_until > clock_timestamp()) into wakes;
                if wakes then
                    notify lexichord;
                end if;
            end if;
            return null;
        end $queue$
        $function$, source.id, numbers, (select count(*) from jsonb_object_keys(source.numbers)), statements[1], statements[2], statements[3],
        lexichord_data.most_compared_rows());
    execute format('revoke execute on function lexichord_data.queue_changes_%s() from public', source.id);
end $_$;
CREATE FUNCTION lexichord_data.most_compared_rows() RETURNS integer
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$ select 100 $$;
CREATE FUNCTION lexichord_data.own_datasets() RETURNS bigint[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN NULL::bigint[];
CREATE FUNCTION lexichord_data.own_principals() RETURNS text[]
    LANGUAGE plpgsql STABLE SECURITY DEFINER PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
declare
    caller name := coalesce(nullif(current_setting('role'), 'none'), session_user);
begin
    if pg_has_role(caller, to_regrole('lexichord_server'), 'usage') then
        return nullif(current_setting('lexichord.principals', true), '')::text[];
    end if;
    return (select r.principals from tenant_role r where r.role_name = caller);
end $$;
CREATE FUNCTION lexichord_data.own_statistics(OUT chunk_count bigint, OUT token_count bigint, OUT document_count bigint, OUT card_token_count bigint, OUT average_length double precision) RETURNS record
    LANGUAGE plpgsql STABLE SECURITY DEFINER PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
declare
    own bigint[] := lexichord_data.own_datasets();
begin
    select coalesce(sum(n.chunk_count), 0), coalesce(sum(n.token_count), 0), coalesce(sum(n.document_count), 0), coalesce(sum(n.card_token_count), 0)
    into chunk_count, token_count, document_count, card_token_count
    from (select c.chunk_count, c.token_count, c.document_count, c.card_token_count from corpus c where own is null
          union all
          select d.chunk_count, d.token_count, d.document_count, d.card_token_count from dataset_count d where d.dataset_id = any(own)
          union all
          select d.chunk_count, d.token_count, d.document_count, d.card_token_count from dataset_change d
          where own is null or d.dataset_id = any(own)) as n;
    average_length := (select c.average_length from corpus c);
end $$;
CREATE FUNCTION lexichord_data.owns_queue_function(table_id integer) RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select coalesce((select pg_has_role(p.proowner, 'usage') from pg_proc p
                     where p.oid = to_regprocedure(format('lexichord_data.queue_changes_%s()', table_id))), false)
$$;
CREATE FUNCTION lexichord_data.queue_row() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $_$
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
end $_$;
CREATE FUNCTION lexichord_data.replace_keyword() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
begin
    perform lexichord_data.add_terms(tsvector_to_array(new.lexemes));
    delete from keyword k where k.chunk_id = new.id;
    perform lexichord_data.add_keywords(array[new.id]);
    return null;
end $$;
CREATE FUNCTION lexichord_data.row_columns(names text[], row_name text) RETURNS text
    LANGUAGE sql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select string_agg(format('%s.%I', row_name, u.name), ', ' order by u.place) from unnest(names) with ordinality as u (name, place)
$$;
CREATE FUNCTION lexichord_data.table_statements(source lexichord_data.indexed_table) RETURNS text[]
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $_$
declare
    key text[] := lexichord_data.current_columns(source, source.key);
    compared text[] := lexichord_data.compared_columns(source);
    old_key text := lexichord_data.key_expression(source.relation, key, 'o');
    new_key text := lexichord_data.key_expression(source.relation, key, 'n');
    few integer := lexichord_data.most_compared_rows();
begin
    if array_position(key, null) is not null then
        return null;
    end if;
    return array[
        format('select array_agg(%s) from new_rows as n', new_key),
        format('select array_agg(%s) from old_rows as o', old_key),
        format('select array_agg(coalesce(%1$s, %2$s)) filter (where o.%3$I is null or n.%3$I is null or record_image_ne(row(%4$s), row(%5$s))), count(*) > %8$s '
               'from (select * from old_rows limit %8$s + 1) as o full join (select * from new_rows limit %8$s + 1) as n on (%6$s) = (%7$s)',
               new_key, old_key, key[1], lexichord_data.row_columns(compared, 'o'), lexichord_data.row_columns(compared, 'n'),
               lexichord_data.row_columns(key, 'o'), lexichord_data.row_columns(key, 'n'), few)];
end $_$;
CREATE TABLE lexichord_data.api_call (
    id bigint NOT NULL,
    key_id bigint NOT NULL,
    called_at timestamp with time zone NOT NULL,
    kind text NOT NULL,
    datasets text[],
    status smallint NOT NULL,
    query text
);
ALTER TABLE lexichord_data.api_call ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME lexichord_data.api_call_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE lexichord_data.api_key (
    id bigint NOT NULL,
    name text NOT NULL,
    digest bytea NOT NULL,
    datasets text[],
    writes boolean NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    revoked_at timestamp with time zone,
    reads boolean DEFAULT true NOT NULL,
    deletes boolean NOT NULL,
    requests_per_minute integer,
    lasts interval,
    expires_at timestamp with time zone,
    last_used_at timestamp with time zone,
    renews bigint,
    tenant_id bigint,
    principals text[] DEFAULT '{}'::text[] NOT NULL,
    CONSTRAINT api_key_check CHECK ((reads OR writes OR deletes)),
    CONSTRAINT api_key_check1 CHECK (((tenant_id IS NULL) OR (NOT (writes OR deletes)))),
    CONSTRAINT api_key_datasets_check CHECK ((cardinality(datasets) > 0)),
    CONSTRAINT api_key_digest_check CHECK ((octet_length(digest) = 32)),
    CONSTRAINT api_key_lasts_check CHECK ((lasts > '00:00:00'::interval)),
    CONSTRAINT api_key_name_check CHECK ((name <> ''::text)),
    CONSTRAINT api_key_requests_per_minute_check CHECK ((requests_per_minute > 0))
);
ALTER TABLE lexichord_data.api_key ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME lexichord_data.api_key_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE lexichord_data.calibration (
    space text NOT NULL,
    constant double precision NOT NULL,
    cosine double precision NOT NULL,
    passage double precision NOT NULL,
    holds double precision[] NOT NULL,
    lacks double precision[] NOT NULL,
    fitted_at timestamp with time zone DEFAULT now() NOT NULL
);
CREATE TABLE lexichord_data.card_term (
    lexeme text NOT NULL COLLATE pg_catalog."C",
    document_id bigint NOT NULL,
    tf integer NOT NULL
);
CREATE TABLE lexichord_data.chunk (
    id bigint NOT NULL,
    dataset_id bigint NOT NULL,
    document_id bigint NOT NULL,
    ordinal integer NOT NULL,
    heading text DEFAULT ''::text NOT NULL,
    char_start integer NOT NULL,
    char_end integer NOT NULL,
    page integer,
    content text NOT NULL,
    context text DEFAULT ''::text NOT NULL,
    lexemes tsvector NOT NULL,
    token_count integer NOT NULL,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    content_hash text NOT NULL,
    keyword_context text DEFAULT ''::text NOT NULL,
    embedding public.halfvec(4),
    CONSTRAINT chunk_char_start_check CHECK ((char_start >= 0)),
    CONSTRAINT chunk_check CHECK ((char_end >= char_start))
);
ALTER TABLE ONLY lexichord_data.chunk ALTER COLUMN embedding SET STORAGE PLAIN;
CREATE TABLE lexichord_data.chunk_context (
    key text NOT NULL,
    dataset_id bigint NOT NULL,
    uri text NOT NULL,
    context text NOT NULL,
    made_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT chunk_context_context_check CHECK ((context <> ''::text))
);
ALTER TABLE lexichord_data.chunk ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME lexichord_data.chunk_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE lexichord_data.configuration (
    only_row boolean DEFAULT true NOT NULL,
    engine text NOT NULL,
    text_config regconfig NOT NULL,
    id_secret uuid DEFAULT gen_random_uuid() NOT NULL,
    by_document boolean DEFAULT false NOT NULL,
    has_tenants boolean DEFAULT false NOT NULL,
    CONSTRAINT configuration_engine_check CHECK ((engine = ANY (ARRAY['plain'::text, 'textsearch'::text, 'vectorchord'::text]))),
    CONSTRAINT configuration_only_row_check CHECK (only_row)
);
CREATE TABLE lexichord_data.corpus (
    only_row boolean DEFAULT true NOT NULL,
    chunk_count bigint DEFAULT 0 NOT NULL,
    token_count bigint DEFAULT 0 NOT NULL,
    document_count bigint DEFAULT 0 NOT NULL,
    card_token_count bigint DEFAULT 0 NOT NULL,
    average_length double precision,
    CONSTRAINT corpus_only_row_check CHECK (only_row)
);
CREATE TABLE lexichord_data.dataset_change (
    dataset_id bigint NOT NULL,
    chunk_count bigint NOT NULL,
    token_count bigint NOT NULL,
    document_count bigint NOT NULL,
    card_token_count bigint NOT NULL
);
CREATE VIEW lexichord_data.corpus_statistics WITH (security_invoker='true') AS
 SELECT (n.chunk_count + c.chunk_count) AS chunk_count,
    (n.token_count + c.token_count) AS token_count,
    (n.document_count + c.document_count) AS document_count,
    (n.card_token_count + c.card_token_count) AS card_token_count,
    n.average_length
   FROM lexichord_data.corpus n,
    ( SELECT (COALESCE(sum(d.chunk_count), (0)::numeric))::bigint AS chunk_count,
            (COALESCE(sum(d.token_count), (0)::numeric))::bigint AS token_count,
            (COALESCE(sum(d.document_count), (0)::numeric))::bigint AS document_count,
            (COALESCE(sum(d.card_token_count), (0)::numeric))::bigint AS card_token_count
           FROM lexichord_data.dataset_change d) c;
CREATE TABLE lexichord_data.cosine_scale (
    space text NOT NULL,
    unlike double precision NOT NULL,
    alike double precision NOT NULL,
    sentences integer NOT NULL,
    chunks bigint NOT NULL,
    measured_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT cosine_scale_check CHECK ((alike > unlike))
);
CREATE TABLE lexichord_data.dataset (
    id bigint NOT NULL,
    name text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    tenant_id bigint,
    details jsonb DEFAULT '{}'::jsonb NOT NULL,
    CONSTRAINT dataset_details_check CHECK ((jsonb_typeof(details) = 'object'::text)),
    CONSTRAINT dataset_name_check CHECK ((name <> ''::text))
);
CREATE TABLE lexichord_data.dataset_count (
    dataset_id bigint NOT NULL,
    chunk_count bigint NOT NULL,
    token_count bigint NOT NULL,
    document_count bigint NOT NULL,
    card_token_count bigint NOT NULL
);
CREATE TABLE lexichord_data.dataset_file (
    dataset_id bigint NOT NULL,
    file_id text NOT NULL,
    run_id bigint,
    attributes jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT dataset_file_attributes_check CHECK ((jsonb_typeof(attributes) = 'object'::text))
);
ALTER TABLE lexichord_data.dataset ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME lexichord_data.dataset_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE lexichord_data.document (
    id bigint NOT NULL,
    dataset_id bigint NOT NULL,
    uri text NOT NULL,
    title text NOT NULL,
    media_type text NOT NULL,
    sha256 text NOT NULL,
    recipe text NOT NULL,
    text text NOT NULL,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    card_length integer DEFAULT 0 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    text_config regconfig,
    principals text[],
    analyzer_version smallint DEFAULT 1 NOT NULL,
    CONSTRAINT document_metadata_check CHECK ((jsonb_typeof(metadata) = 'object'::text)),
    CONSTRAINT document_sha256_check CHECK ((sha256 ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT document_uri_check CHECK ((uri <> ''::text))
);
ALTER TABLE lexichord_data.document ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME lexichord_data.document_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE lexichord_data.elsewhere (
    is_only boolean DEFAULT true NOT NULL,
    chunk_count bigint DEFAULT 0 NOT NULL,
    token_count bigint DEFAULT 0 NOT NULL,
    document_count bigint DEFAULT 0 NOT NULL,
    card_token_count bigint DEFAULT 0 NOT NULL,
    CONSTRAINT elsewhere_is_only_check CHECK (is_only)
);
CREATE TABLE lexichord_data.elsewhere_dataset (
    dataset_id bigint NOT NULL,
    chunk_count bigint NOT NULL,
    token_count bigint NOT NULL,
    document_count bigint NOT NULL,
    card_token_count bigint NOT NULL
);
CREATE TABLE lexichord_data.embedding_space (
    only_row boolean DEFAULT true NOT NULL,
    provider text NOT NULL,
    model text NOT NULL,
    dimension integer NOT NULL,
    is_default boolean DEFAULT false NOT NULL,
    CONSTRAINT embedding_space_dimension_check CHECK (((dimension >= 1) AND (dimension <= 16000))),
    CONSTRAINT embedding_space_only_row_check CHECK (only_row)
);
CREATE TABLE lexichord_data.evaluation (
    id bigint NOT NULL,
    set_id bigint NOT NULL,
    strategy text NOT NULL,
    settings jsonb NOT NULL,
    ks integer[] NOT NULL,
    qps jsonb NOT NULL,
    version text NOT NULL,
    started_at timestamp with time zone NOT NULL
);
ALTER TABLE lexichord_data.evaluation ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME lexichord_data.evaluation_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE lexichord_data.evaluation_query (
    set_id bigint NOT NULL,
    query_id text NOT NULL,
    place integer NOT NULL,
    text text NOT NULL,
    hint text,
    intent text,
    answerable boolean NOT NULL
);
CREATE TABLE lexichord_data.evaluation_result (
    evaluation_id bigint NOT NULL,
    query_id text NOT NULL,
    ms double precision NOT NULL,
    passages jsonb NOT NULL,
    files text[] NOT NULL,
    answer text NOT NULL,
    confidence double precision,
    abstained boolean NOT NULL,
    error text,
    metrics jsonb NOT NULL
);
CREATE TABLE lexichord_data.evaluation_set (
    id bigint NOT NULL,
    name text NOT NULL,
    digest text NOT NULL,
    kept_at timestamp with time zone DEFAULT now() NOT NULL
);
ALTER TABLE lexichord_data.evaluation_set ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME lexichord_data.evaluation_set_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE lexichord_data.file (
    id text NOT NULL,
    name text NOT NULL,
    media_type text NOT NULL,
    purpose text NOT NULL,
    content bytea NOT NULL,
    sha256 text GENERATED ALWAYS AS (encode(sha256(content), 'hex'::text)) STORED NOT NULL,
    byte_count bigint GENERATED ALWAYS AS (length(content)) STORED NOT NULL,
    datasets text[],
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT file_id_check CHECK ((id ~ '^file-[0-9a-f]{24}$'::text)),
    CONSTRAINT file_name_check CHECK ((name <> ''::text))
);
ALTER TABLE ONLY lexichord_data.file ALTER COLUMN content SET STORAGE EXTERNAL;
CREATE TABLE lexichord_data.function_release (
    only_row boolean DEFAULT true NOT NULL,
    sha256 text NOT NULL,
    version text NOT NULL,
    CONSTRAINT function_release_only_row_check CHECK (only_row)
);
CREATE VIEW lexichord_data.own_elsewhere WITH (security_invoker='true') AS
 SELECT e.chunk_count,
    e.token_count,
    e.document_count,
    e.card_token_count
   FROM lexichord_data.elsewhere e;
CREATE VIEW lexichord_data.global_statistics WITH (security_invoker='true') AS
 SELECT (n.chunk_count + e.chunk_count) AS chunk_count,
    (n.token_count + e.token_count) AS token_count,
    (n.document_count + e.document_count) AS document_count,
    (n.card_token_count + e.card_token_count) AS card_token_count,
    n.average_length
   FROM lexichord_data.corpus_statistics n,
    lexichord_data.own_elsewhere e;
CREATE TABLE lexichord_data.term_elsewhere (
    lexeme text NOT NULL COLLATE pg_catalog."C",
    df bigint NOT NULL,
    cards bigint NOT NULL
);
CREATE VIEW lexichord_data.own_term_elsewhere WITH (security_invoker='true') AS
 SELECT e.lexeme,
    e.df,
    e.cards
   FROM lexichord_data.term_elsewhere e;
CREATE TABLE lexichord_data.term_change (
    term_id integer NOT NULL,
    dataset_id bigint NOT NULL,
    df bigint NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='20000');
CREATE VIEW lexichord_data.term_statistics WITH (security_invoker='true') AS
 SELECT t.id,
    t.lexeme,
    (t.df + (COALESCE(( SELECT sum(c.df) AS sum
           FROM lexichord_data.term_change c
          WHERE (c.term_id = t.id)), (0)::numeric))::bigint) AS df
   FROM lexichord_data.term t;
CREATE VIEW lexichord_data.global_term_statistics WITH (security_invoker='true') AS
 SELECT t.id,
    t.lexeme,
    (t.df + COALESCE(( SELECT e.df
           FROM lexichord_data.own_term_elsewhere e
          WHERE (e.lexeme = t.lexeme)), (0)::bigint)) AS df
   FROM lexichord_data.term_statistics t;
CREATE TABLE lexichord_data.index_build (
    index_name text NOT NULL,
    chunks bigint NOT NULL,
    last_chunk bigint NOT NULL
);
ALTER TABLE lexichord_data.indexed_table ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME lexichord_data.indexed_table_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE lexichord_data.judgment (
    set_id bigint NOT NULL,
    query_id text NOT NULL,
    kind text NOT NULL,
    uri text,
    char_start integer,
    char_end integer,
    ordinal integer,
    grade integer,
    entity_type text,
    variants text[],
    critical boolean,
    CONSTRAINT judgment_kind_check CHECK ((kind = ANY (ARRAY['file'::text, 'span'::text, 'chunk'::text, 'grade'::text, 'entity'::text])))
);
CREATE TABLE lexichord_data.keyword (
    chunk_id bigint NOT NULL,
    document_id bigint NOT NULL,
    impacts public.sparsevec(1000000000) NOT NULL
)
WITH (toast_tuple_target='8160');
CREATE TABLE lexichord_data.keyword_segment (
    number integer NOT NULL,
    chunks bigint NOT NULL,
    superseded boolean DEFAULT false NOT NULL
);
CREATE TABLE lexichord_data.keyword_tail (
    chunk_id bigint NOT NULL
);
CREATE TABLE lexichord_data.migration (
    number integer NOT NULL,
    name text NOT NULL,
    sha256 text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL
);
CREATE TABLE lexichord_data.original (
    document_id bigint NOT NULL,
    sha256 text NOT NULL,
    content bytea NOT NULL,
    CONSTRAINT original_sha256_check CHECK ((sha256 ~ '^[0-9a-f]{64}$'::text))
);
ALTER TABLE ONLY lexichord_data.original ALTER COLUMN content SET STORAGE EXTERNAL;
CREATE TABLE lexichord_data.posting (
    segment integer NOT NULL,
    term_id integer NOT NULL,
    impact real NOT NULL,
    amount smallint NOT NULL,
    chunk_ids bigint[] NOT NULL,
    id bigint NOT NULL
)
WITH (toast_tuple_target='8160');
ALTER TABLE lexichord_data.posting ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME lexichord_data.posting_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE lexichord_data.query (
    id bigint NOT NULL,
    asked_at timestamp with time zone DEFAULT now() NOT NULL,
    version text NOT NULL,
    space text,
    datasets text[] NOT NULL,
    narrowed boolean NOT NULL,
    hinted boolean NOT NULL,
    text text,
    hint text,
    intent text NOT NULL,
    confidence double precision NOT NULL,
    abstained boolean NOT NULL,
    coverage double precision,
    ms double precision,
    counts jsonb NOT NULL,
    stages jsonb NOT NULL,
    phrase jsonb,
    CONSTRAINT query_check CHECK (((text IS NOT NULL) OR (hint IS NULL))),
    CONSTRAINT query_check1 CHECK ((hinted OR (hint IS NULL)))
);
CREATE TABLE lexichord_data.query_hit (
    query_id bigint NOT NULL,
    rank integer NOT NULL,
    chunk_id bigint NOT NULL,
    dataset text NOT NULL,
    uri text NOT NULL,
    char_start integer NOT NULL,
    char_end integer NOT NULL,
    score double precision NOT NULL,
    scores jsonb NOT NULL,
    ranks jsonb NOT NULL
);
ALTER TABLE lexichord_data.query ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME lexichord_data.query_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE lexichord_data.query_vector (
    space text NOT NULL,
    digest bytea NOT NULL,
    query text NOT NULL,
    embedding real[],
    fault text,
    requested_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);
CREATE TABLE lexichord_data.reembedding (
    id bigint NOT NULL,
    old_space text NOT NULL,
    new_space text NOT NULL,
    provider text NOT NULL,
    model text NOT NULL,
    dimension integer NOT NULL,
    state text DEFAULT 'filling'::text NOT NULL,
    embedded bigint DEFAULT 0 NOT NULL,
    comparison jsonb,
    started_at timestamp with time zone DEFAULT now() NOT NULL,
    seen_at timestamp with time zone DEFAULT now() NOT NULL,
    swapped_at timestamp with time zone,
    CONSTRAINT reembedding_state_check CHECK ((state = ANY (ARRAY['filling'::text, 'swapped'::text, 'dropped'::text])))
);
ALTER TABLE lexichord_data.reembedding ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME lexichord_data.reembedding_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE lexichord_data.run (
    id bigint NOT NULL,
    dataset text NOT NULL,
    source text NOT NULL,
    started_at timestamp with time zone DEFAULT now() NOT NULL,
    finished_at timestamp with time zone,
    total integer DEFAULT 0 NOT NULL,
    seen_at timestamp with time zone DEFAULT now() NOT NULL,
    in_progress jsonb DEFAULT '{}'::jsonb NOT NULL,
    CONSTRAINT run_in_progress_check CHECK ((jsonb_typeof(in_progress) = 'object'::text))
);
CREATE TABLE lexichord_data.run_file (
    run_id bigint NOT NULL,
    uri text NOT NULL,
    status text NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    chunks integer DEFAULT 0 NOT NULL,
    finished_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT run_file_status_check CHECK ((status = ANY (ARRAY['inserted'::text, 'replaced'::text, 'skipped'::text, 'failed'::text, 'deleted'::text, 'unread'::text])))
);
ALTER TABLE lexichord_data.run ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME lexichord_data.run_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE lexichord_data.shard (
    number integer NOT NULL,
    dsn text NOT NULL,
    added_at timestamp with time zone DEFAULT now() NOT NULL,
    is_leaving boolean DEFAULT false NOT NULL,
    CONSTRAINT shard_dsn_check CHECK ((dsn <> ''::text)),
    CONSTRAINT shard_number_check CHECK (((number >= 1) AND (number <= 31)))
);
CREATE TABLE lexichord_data.shard_move (
    is_only boolean DEFAULT true NOT NULL,
    switches bigint DEFAULT 0 NOT NULL,
    mover uuid,
    last_number integer DEFAULT 0 NOT NULL,
    source integer,
    target integer,
    documents bigint[],
    CONSTRAINT shard_move_check CHECK ((((documents IS NULL) = (source IS NULL)) AND ((documents IS NULL) = (target IS NULL)))),
    CONSTRAINT shard_move_is_only_check CHECK (is_only)
);
ALTER TABLE lexichord_data.table_change ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME lexichord_data.table_change_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE lexichord_data.table_failure (
    table_id integer NOT NULL,
    key text NOT NULL,
    reason text NOT NULL,
    attempts integer DEFAULT 1 NOT NULL,
    failed_at timestamp with time zone DEFAULT now() NOT NULL
);
CREATE TABLE lexichord_data.table_row (
    document_id bigint NOT NULL,
    table_id integer NOT NULL,
    key text NOT NULL
);
CREATE TABLE lexichord_data.tenant (
    id bigint NOT NULL,
    name text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT tenant_name_check CHECK ((name <> ''::text))
);
ALTER TABLE lexichord_data.tenant ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME lexichord_data.tenant_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE lexichord_data.tenant_role (
    role_name name NOT NULL,
    tenant_id bigint NOT NULL,
    principals text[] DEFAULT '{}'::text[] NOT NULL
);
CREATE TABLE lexichord_data.term_count (
    term_id integer NOT NULL,
    dataset_id bigint NOT NULL,
    df bigint NOT NULL
);
CREATE TABLE lexichord_data.term_elsewhere_dataset (
    dataset_id bigint NOT NULL,
    lexeme text NOT NULL COLLATE pg_catalog."C",
    df bigint NOT NULL,
    cards bigint NOT NULL
);
ALTER TABLE lexichord_data.term ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME lexichord_data.term_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE lexichord_data.worker (
    id bigint NOT NULL,
    host text NOT NULL,
    started_at timestamp with time zone DEFAULT now() NOT NULL,
    seen_at timestamp with time zone DEFAULT now() NOT NULL,
    resting_until timestamp with time zone
)
WITH (fillfactor='50', autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='100');
ALTER TABLE lexichord_data.worker ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME lexichord_data.worker_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
INSERT INTO lexichord_data.api_key OVERRIDING SYSTEM VALUE VALUES
	(1, 'reader', '\x4d0437603193e060538b645a34a551933771f051b1be9de4730f012601881457', '{leases}', false, '2026-11-28 13:31:03.495084+00', NULL, true, false, NULL, NULL, NULL, NULL, NULL, NULL, '{}');
INSERT INTO lexichord_data.card_term VALUES
	('md', 1, 1),
	('三年', 1, 1),
	('为三', 1, 1),
	('义务', 1, 1),
	('乙方', 1, 1),
	('保密', 1, 5),
	('信息', 1, 1),
	('协议', 1, 3),
	('合同', 1, 1),
	('同期', 1, 1),
	('密义', 1, 1),
	('密信', 1, 1),
	('密协', 1, 3),
	('对乙', 1, 1),
	('应当', 1, 1),
	('当对', 1, 1),
	('息承', 1, 1),
	('承担', 1, 1),
	('担保', 1, 1),
	('方应', 1, 1),
	('方的', 1, 1),
	('期限', 1, 1),
	('甲方', 1, 1),
	('的保', 1, 1),
	('限为', 1, 1),
	('betragt', 2, 1),
	('drei', 2, 1),
	('kundigungsfrist', 2, 1),
	('md', 2, 1),
	('mietvertrag', 2, 3),
	('monat', 2, 1),
	('deposit', 3, 1),
	('keep', 3, 1),
	('key', 3, 1),
	('landlord', 3, 1),
	('leas', 3, 3),
	('md', 3, 1),
	('month', 3, 1),
	('one', 3, 1),
	('rent', 3, 1),
	('two', 3, 1),
	('md', 4, 1),
	('กเ', 4, 1),
	('ค่า', 4, 1),
	('งชํ', 4, 1),
	('ช่า', 4, 2),
	('ชํา', 4, 1),
	('ญญ', 4, 3),
	('ญา', 4, 3),
	('ดือ', 4, 1),
	('ต้อ', 4, 1),
	('ทุก', 4, 1),
	('ผู้เ', 4, 1),
	('ระ', 4, 1),
	('สัญ', 4, 3),
	('อง', 4, 1),
	('อน', 4, 1),
	('ะค่', 4, 1),
	('าต้', 4, 1),
	('าทุ', 4, 1),
	('าร', 4, 1),
	('าเ', 4, 1),
	('เช่', 4, 2),
	('เดื', 4, 1);
INSERT INTO lexichord_data.chunk OVERRIDING SYSTEM VALUE VALUES
	(1, 1, 1, 0, '', 0, 19, NULL, '甲方应当对乙方的保密信息承担保密义务。', '保密协议', '''义务'':20 ''乙方'':9 ''保密'':1,12,18 ''信息'':14 ''协议'':3 ''密义'':19 ''密信'':13 ''密协'':2 ''对乙'':8 ''应当'':6 ''当对'':7 ''息承'':15 ''承担'':16 ''担保'':17 ''方应'':5 ''方的'':10 ''甲方'':4 ''的保'':11', 20, '{}', 'e0b01225d9fd0f41a2b462b7e6323965ab2069c1f605b2b9a7af1f7e3d044a67', '', '[19,1,2,3]'),
	(2, 1, 1, 1, '', 21, 29, NULL, '合同期限为三年。', '保密协议', '''三年'':9 ''为三'':8 ''保密'':1 ''协议'':3 ''合同'':4 ''同期'':5 ''密协'':2 ''期限'':6 ''限为'':7', 9, '{}', 'd79fba40c68d1d5fd0007f1241cae7b8eee96812730ac91fc64935d11fb39b59', '', '[8,1,2,3]'),
	(3, 1, 2, 0, '', 0, 40, NULL, 'Die Kündigungsfrist beträgt drei Monate.', 'mietvertrag', '''betragt'':5,9 ''drei'':6,10 ''kundigungsfrist'':3,8 ''mietvertrag'':1 ''monat'':4,11', 9, '{}', '19463c3076d439244a3ff1717ee68b2b6c810c4f264421ba706afde9f179f068', 'Die Kündigungsfrist Monate beträgt drei', '[40,1,2,3]'),
	(4, 1, 3, 0, '', 0, 32, NULL, 'The deposit is two months'' rent.', 'lease', '''deposit'':3,12 ''keep'':4 ''key'':5 ''landlord'':6 ''leas'':1 ''month'':7,15 ''one'':8 ''rent'':9,16 ''two'':10,14', 13, '{}', '70b83075a187e3353f5300ee82247d79a8a2945337e7aa9e9bc7613274925c6e', 'The deposit keeps key landlord months one rent two', '[32,1,2,3]'),
	(5, 1, 3, 1, '', 34, 61, NULL, 'The landlord keeps one key.', 'lease', '''deposit'':3 ''keep'':4,13 ''key'':5,15 ''landlord'':6,12 ''leas'':1 ''month'':7 ''one'':8,14 ''rent'':9 ''two'':10', 13, '{}', '5d121a6d526fdd17f10365a6e88d42e6e3e2c4d416e678d0f8593f1280197601', 'The deposit keeps key landlord months one rent two', '[27,1,2,3]'),
	(6, 1, 4, 0, '', 0, 30, NULL, 'ผู้เช่าต้องชำระค่าเช่าทุกเดือน', 'สัญญา', '''กเ'':21 ''ค่า'':15 ''งชํ'':10 ''ช่า'':6,18 ''ชํา'':11 ''ญญ'':2 ''ญา'':3 ''ดือ'':23 ''ต้อ'':8 ''ทุก'':20 ''ผู้เ'':4 ''ระ'':13 ''สัญ'':1 ''อง'':9 ''อน'':24 ''ะค่'':14 ''าต้'':7 ''าทุ'':19 ''าร'':12 ''าเ'':16 ''เช่'':5,17 ''เดื'':22', 24, '{}', '0a66cf378acace459a1aa10dc97ece929f035ba787d70a460318f6bccf864a53', '', '[30,1,2,3]');
INSERT INTO lexichord_data.configuration VALUES
	(true, 'plain', 'english', '6b0a887a-fa30-40c4-96e3-18dbb24613b4', true, false);
INSERT INTO lexichord_data.corpus VALUES
	(true, 6, 88, 4, 84, 14.5);
INSERT INTO lexichord_data.dataset OVERRIDING SYSTEM VALUE VALUES
	(1, 'leases', '2026-11-28 13:31:03.195631+00', NULL, '{}');
INSERT INTO lexichord_data.dataset_count VALUES
	(1, 6, 88, 4, 84);
INSERT INTO lexichord_data.document OVERRIDING SYSTEM VALUE VALUES
	(1, 1, 'contracts/保密协议.md', '保密协议', 'text/plain', '1f93335a8f82341bb930b1d05d586e0252983033d12edb252177184f7f1aa3d1', 'chunked context=structural/2', '甲方应当对乙方的保密信息承担保密义务。
合同期限为三年。', '{"language": "zh"}', 33, '2026-11-28 13:31:03.195631+00', '2026-11-28 13:31:03.195631+00', 'simple', NULL, 2),
	(2, 1, 'de/mietvertrag.md', 'mietvertrag', 'text/plain', '1be5dcd732120bb720c4227638a951086b5c7d359ca35ee228b3336a42b04642', 'chunked context=structural/2', 'Die Kündigungsfrist beträgt drei Monate.', '{"language": "de"}', 8, '2026-11-28 13:31:03.254094+00', '2026-11-28 13:31:03.254094+00', 'german', NULL, 2),
	(3, 1, 'leases/lease.md', 'lease', 'text/plain', '5cea3588ff15d7f27689d4fb4b27012777d7fa02ae4b72763ddedf7f67ebc3f9', 'chunked context=structural/2', 'The deposit is two months'' rent.
The landlord keeps one key.', '{"language": "en"}', 12, '2026-11-28 13:31:03.284852+00', '2026-11-28 13:31:03.284852+00', 'english', NULL, 2),
	(4, 1, 'th/สัญญา.md', 'สัญญา', 'text/plain', '500499b24ceb5595dfcb9db309dd5aad044acf6f649db123aa76e56cbfe0b968', 'chunked context=structural/2', 'ผู้เช่าต้องชำระค่าเช่าทุกเดือน', '{"language": "th"}', 31, '2026-11-28 13:31:03.311087+00', '2026-11-28 13:31:03.311087+00', 'simple', NULL, 2);
INSERT INTO lexichord_data.elsewhere VALUES
	(true, 0, 0, 0, 0);
INSERT INTO lexichord_data.embedding_space VALUES
	(true, 'test', 'tiny', 4, false);
INSERT INTO lexichord_data.function_release VALUES
	(true, 'b6498ead1b6c2ae3404d456307c0ae1682c32a151b40983e11955f44d07be0bd', '1.0.0');
INSERT INTO lexichord_data.index_build VALUES
	('chunk_hnsw', 6, 6);
INSERT INTO lexichord_data.keyword VALUES
	(1, 1, '{3:0.93294954,4:0.93294954,5:1.4120964,6:0.93294954,7:0.93294954,10:0.93294954,11:0.93294954,12:0.93294954,13:0.93294954,14:0.93294954,15:0.93294954,16:0.93294954,17:0.93294954,18:0.93294954,19:0.93294954,20:0.93294954,22:0.93294954,23:0.93294954}/1000000000'),
	(2, 1, '{1:1.0774345,2:1.0774345,5:1.0774345,7:1.0774345,8:1.0774345,9:1.0774345,12:1.0774345,21:1.0774345,24:1.0774345}/1000000000'),
	(3, 2, '{25:1.3750936,26:1.3750936,27:1.3750936,28:1.0774345,29:1.3750936}/1000000000'),
	(4, 3, '{30:1.327391,31:1.0199926,32:1.0199926,33:1.0199926,34:1.0199926,35:1.327391,36:1.0199926,37:1.327391,38:1.327391}/1000000000'),
	(5, 3, '{30:1.0199926,31:1.327391,32:1.327391,33:1.327391,34:1.0199926,35:1.0199926,36:1.327391,37:1.0199926,38:1.0199926}/1000000000'),
	(6, 4, '{39:0.88957053,40:0.88957053,41:0.88957053,42:1.2117879,43:0.88957053,44:0.88957053,45:0.88957053,46:0.88957053,47:0.88957053,48:0.88957053,49:0.88957053,50:0.88957053,51:0.88957053,52:0.88957053,53:0.88957053,54:0.88957053,55:0.88957053,56:0.88957053,57:0.88957053,58:0.88957053,59:1.2117879,60:0.88957053}/1000000000');
INSERT INTO lexichord_data.keyword_tail VALUES
	(1),
	(2),
	(3),
	(4),
	(5),
	(6);
INSERT INTO lexichord_data.migration VALUES
	(35, 'release_1_0', '0aa19f2f35d1913c3e54f9e1dd1d54bbbc1c6383df4318c184fb8c58c239bbcd', '2026-11-28 13:30:58.683072+00');
INSERT INTO lexichord_data.run OVERRIDING SYSTEM VALUE VALUES
	(1, 'leases', '', '2026-11-28 13:31:00.929226+00', '2026-11-28 13:31:03.370904+00', 4, '2026-11-28 13:31:03.328328+00', '{}');
INSERT INTO lexichord_data.run_file VALUES
	(1, 'contracts/保密协议.md', 'inserted', '', 2, '2026-11-28 13:31:03.195631+00'),
	(1, 'de/mietvertrag.md', 'inserted', '', 1, '2026-11-28 13:31:03.254094+00'),
	(1, 'leases/lease.md', 'inserted', '', 2, '2026-11-28 13:31:03.284852+00'),
	(1, 'th/สัญญา.md', 'inserted', '', 1, '2026-11-28 13:31:03.311087+00');
INSERT INTO lexichord_data.shard_move VALUES
	(true, 0, NULL, 0, NULL, NULL, NULL);
INSERT INTO lexichord_data.term OVERRIDING SYSTEM VALUE VALUES
	(1, '三年', 1),
	(2, '为三', 1),
	(3, '义务', 1),
	(4, '乙方', 1),
	(5, '保密', 2),
	(6, '信息', 1),
	(7, '协议', 2),
	(8, '合同', 1),
	(9, '同期', 1),
	(10, '密义', 1),
	(11, '密信', 1),
	(12, '密协', 2),
	(13, '对乙', 1),
	(14, '应当', 1),
	(15, '当对', 1),
	(16, '息承', 1),
	(17, '承担', 1),
	(18, '担保', 1),
	(19, '方应', 1),
	(20, '方的', 1),
	(21, '期限', 1),
	(22, '甲方', 1),
	(23, '的保', 1),
	(24, '限为', 1),
	(25, 'betragt', 1),
	(26, 'drei', 1),
	(27, 'kundigungsfrist', 1),
	(28, 'mietvertrag', 1),
	(29, 'monat', 1),
	(30, 'deposit', 2),
	(31, 'keep', 2),
	(32, 'key', 2),
	(33, 'landlord', 2),
	(34, 'leas', 2),
	(35, 'month', 2),
	(36, 'one', 2),
	(37, 'rent', 2),
	(38, 'two', 2),
	(39, 'กเ', 1),
	(40, 'ค่า', 1),
	(41, 'งชํ', 1),
	(42, 'ช่า', 1),
	(43, 'ชํา', 1),
	(44, 'ญญ', 1),
	(45, 'ญา', 1),
	(46, 'ดือ', 1),
	(47, 'ต้อ', 1),
	(48, 'ทุก', 1),
	(49, 'ผู้เ', 1),
	(50, 'ระ', 1),
	(51, 'สัญ', 1),
	(52, 'อง', 1),
	(53, 'อน', 1),
	(54, 'ะค่', 1),
	(55, 'าต้', 1),
	(56, 'าทุ', 1),
	(57, 'าร', 1),
	(58, 'าเ', 1),
	(59, 'เช่', 1),
	(60, 'เดื', 1);
INSERT INTO lexichord_data.term_count VALUES
	(31, 1, 2),
	(1, 1, 1),
	(51, 1, 1),
	(45, 1, 1),
	(57, 1, 1),
	(41, 1, 1),
	(4, 1, 1),
	(17, 1, 1),
	(55, 1, 1),
	(49, 1, 1),
	(7, 1, 2),
	(56, 1, 1),
	(26, 1, 1),
	(3, 1, 1),
	(19, 1, 1),
	(52, 1, 1),
	(50, 1, 1),
	(25, 1, 1),
	(38, 1, 2),
	(44, 1, 1),
	(16, 1, 1),
	(53, 1, 1),
	(12, 1, 2),
	(22, 1, 1),
	(35, 1, 2),
	(59, 1, 1),
	(27, 1, 1),
	(21, 1, 1),
	(9, 1, 1),
	(11, 1, 1),
	(5, 1, 2),
	(43, 1, 1),
	(47, 1, 1),
	(10, 1, 1),
	(18, 1, 1),
	(29, 1, 1),
	(46, 1, 1),
	(42, 1, 1),
	(20, 1, 1),
	(15, 1, 1),
	(54, 1, 1),
	(28, 1, 1),
	(60, 1, 1),
	(48, 1, 1),
	(32, 1, 2),
	(33, 1, 2),
	(34, 1, 2),
	(14, 1, 1),
	(39, 1, 1),
	(23, 1, 1),
	(2, 1, 1),
	(36, 1, 2),
	(6, 1, 1),
	(24, 1, 1),
	(13, 1, 1),
	(37, 1, 2),
	(8, 1, 1),
	(58, 1, 1),
	(30, 1, 2),
	(40, 1, 1);
SELECT pg_catalog.setval('lexichord_data.api_call_id_seq', 1, false);
SELECT pg_catalog.setval('lexichord_data.api_key_id_seq', 1, true);
SELECT pg_catalog.setval('lexichord_data.chunk_id_seq', 6, true);
SELECT pg_catalog.setval('lexichord_data.dataset_id_seq', 4, true);
SELECT pg_catalog.setval('lexichord_data.document_id_seq', 4, true);
SELECT pg_catalog.setval('lexichord_data.evaluation_id_seq', 1, false);
SELECT pg_catalog.setval('lexichord_data.evaluation_set_id_seq', 1, false);
SELECT pg_catalog.setval('lexichord_data.indexed_table_id_seq', 1, false);
SELECT pg_catalog.setval('lexichord_data.posting_id_seq', 1, false);
SELECT pg_catalog.setval('lexichord_data.query_id_seq', 1, false);
SELECT pg_catalog.setval('lexichord_data.reembedding_id_seq', 1, false);
SELECT pg_catalog.setval('lexichord_data.run_id_seq', 1, true);
SELECT pg_catalog.setval('lexichord_data.table_change_id_seq', 1, false);
SELECT pg_catalog.setval('lexichord_data.tenant_id_seq', 1, false);
SELECT pg_catalog.setval('lexichord_data.term_id_seq', 60, true);
SELECT pg_catalog.setval('lexichord_data.worker_id_seq', 1, false);
ALTER TABLE ONLY lexichord_data.api_call
    ADD CONSTRAINT api_call_pkey PRIMARY KEY (id);
ALTER TABLE ONLY lexichord_data.api_key
    ADD CONSTRAINT api_key_digest_key UNIQUE (digest);
ALTER TABLE ONLY lexichord_data.api_key
    ADD CONSTRAINT api_key_pkey PRIMARY KEY (id);
ALTER TABLE ONLY lexichord_data.calibration
    ADD CONSTRAINT calibration_pkey PRIMARY KEY (space);
ALTER TABLE ONLY lexichord_data.card_term
    ADD CONSTRAINT card_term_pkey PRIMARY KEY (lexeme, document_id);
ALTER TABLE ONLY lexichord_data.chunk_context
    ADD CONSTRAINT chunk_context_pkey PRIMARY KEY (key, dataset_id, uri);
ALTER TABLE ONLY lexichord_data.chunk
    ADD CONSTRAINT chunk_document_id_ordinal_key UNIQUE (document_id, ordinal);
ALTER TABLE ONLY lexichord_data.chunk
    ADD CONSTRAINT chunk_pkey PRIMARY KEY (id);
ALTER TABLE ONLY lexichord_data.configuration
    ADD CONSTRAINT configuration_pkey PRIMARY KEY (only_row);
ALTER TABLE ONLY lexichord_data.corpus
    ADD CONSTRAINT corpus_pkey PRIMARY KEY (only_row);
ALTER TABLE ONLY lexichord_data.cosine_scale
    ADD CONSTRAINT cosine_scale_pkey PRIMARY KEY (space);
ALTER TABLE ONLY lexichord_data.dataset_count
    ADD CONSTRAINT dataset_count_pkey PRIMARY KEY (dataset_id);
ALTER TABLE ONLY lexichord_data.dataset_file
    ADD CONSTRAINT dataset_file_pkey PRIMARY KEY (dataset_id, file_id);
ALTER TABLE ONLY lexichord_data.dataset
    ADD CONSTRAINT dataset_name_key UNIQUE (name);
ALTER TABLE ONLY lexichord_data.dataset
    ADD CONSTRAINT dataset_pkey PRIMARY KEY (id);
ALTER TABLE ONLY lexichord_data.document
    ADD CONSTRAINT document_dataset_id_uri_key UNIQUE (dataset_id, uri);
ALTER TABLE ONLY lexichord_data.document
    ADD CONSTRAINT document_id_dataset_id_key UNIQUE (id, dataset_id);
ALTER TABLE ONLY lexichord_data.document
    ADD CONSTRAINT document_pkey PRIMARY KEY (id);
ALTER TABLE ONLY lexichord_data.elsewhere_dataset
    ADD CONSTRAINT elsewhere_dataset_pkey PRIMARY KEY (dataset_id);
ALTER TABLE ONLY lexichord_data.elsewhere
    ADD CONSTRAINT elsewhere_pkey PRIMARY KEY (is_only);
ALTER TABLE ONLY lexichord_data.embedding_space
    ADD CONSTRAINT embedding_space_pkey PRIMARY KEY (only_row);
ALTER TABLE ONLY lexichord_data.evaluation
    ADD CONSTRAINT evaluation_pkey PRIMARY KEY (id);
ALTER TABLE ONLY lexichord_data.evaluation_query
    ADD CONSTRAINT evaluation_query_pkey PRIMARY KEY (set_id, query_id);
ALTER TABLE ONLY lexichord_data.evaluation_result
    ADD CONSTRAINT evaluation_result_pkey PRIMARY KEY (evaluation_id, query_id);
ALTER TABLE ONLY lexichord_data.evaluation_set
    ADD CONSTRAINT evaluation_set_name_digest_key UNIQUE (name, digest);
ALTER TABLE ONLY lexichord_data.evaluation_set
    ADD CONSTRAINT evaluation_set_pkey PRIMARY KEY (id);
ALTER TABLE ONLY lexichord_data.file
    ADD CONSTRAINT file_pkey PRIMARY KEY (id);
ALTER TABLE ONLY lexichord_data.function_release
    ADD CONSTRAINT function_release_pkey PRIMARY KEY (only_row);
ALTER TABLE ONLY lexichord_data.index_build
    ADD CONSTRAINT index_build_pkey PRIMARY KEY (index_name);
ALTER TABLE ONLY lexichord_data.indexed_table
    ADD CONSTRAINT indexed_table_dataset_key UNIQUE (dataset);
ALTER TABLE ONLY lexichord_data.indexed_table
    ADD CONSTRAINT indexed_table_pkey PRIMARY KEY (id);
ALTER TABLE ONLY lexichord_data.indexed_table
    ADD CONSTRAINT indexed_table_relation_key UNIQUE (relation);
ALTER TABLE ONLY lexichord_data.keyword
    ADD CONSTRAINT keyword_pkey PRIMARY KEY (chunk_id);
ALTER TABLE ONLY lexichord_data.keyword_segment
    ADD CONSTRAINT keyword_segment_pkey PRIMARY KEY (number);
ALTER TABLE ONLY lexichord_data.keyword_tail
    ADD CONSTRAINT keyword_tail_pkey PRIMARY KEY (chunk_id);
ALTER TABLE ONLY lexichord_data.migration
    ADD CONSTRAINT migration_pkey PRIMARY KEY (number);
ALTER TABLE ONLY lexichord_data.original
    ADD CONSTRAINT original_pkey PRIMARY KEY (document_id);
ALTER TABLE ONLY lexichord_data.posting
    ADD CONSTRAINT posting_pkey PRIMARY KEY (id);
ALTER TABLE ONLY lexichord_data.query_hit
    ADD CONSTRAINT query_hit_pkey PRIMARY KEY (query_id, rank);
ALTER TABLE ONLY lexichord_data.query
    ADD CONSTRAINT query_pkey PRIMARY KEY (id);
ALTER TABLE ONLY lexichord_data.query_vector
    ADD CONSTRAINT query_vector_pkey PRIMARY KEY (space, digest);
ALTER TABLE ONLY lexichord_data.reembedding
    ADD CONSTRAINT reembedding_pkey PRIMARY KEY (id);
ALTER TABLE ONLY lexichord_data.run_file
    ADD CONSTRAINT run_file_pkey PRIMARY KEY (run_id, uri);
ALTER TABLE ONLY lexichord_data.run
    ADD CONSTRAINT run_pkey PRIMARY KEY (id);
ALTER TABLE ONLY lexichord_data.shard
    ADD CONSTRAINT shard_dsn_key UNIQUE (dsn);
ALTER TABLE ONLY lexichord_data.shard_move
    ADD CONSTRAINT shard_move_pkey PRIMARY KEY (is_only);
ALTER TABLE ONLY lexichord_data.shard
    ADD CONSTRAINT shard_pkey PRIMARY KEY (number);
ALTER TABLE ONLY lexichord_data.table_change
    ADD CONSTRAINT table_change_pkey PRIMARY KEY (id);
ALTER TABLE ONLY lexichord_data.table_failure
    ADD CONSTRAINT table_failure_pkey PRIMARY KEY (table_id, key);
ALTER TABLE ONLY lexichord_data.table_row
    ADD CONSTRAINT table_row_pkey PRIMARY KEY (document_id);
ALTER TABLE ONLY lexichord_data.table_row
    ADD CONSTRAINT table_row_table_id_key_key UNIQUE (table_id, key);
ALTER TABLE ONLY lexichord_data.tenant
    ADD CONSTRAINT tenant_name_key UNIQUE (name);
ALTER TABLE ONLY lexichord_data.tenant
    ADD CONSTRAINT tenant_pkey PRIMARY KEY (id);
ALTER TABLE ONLY lexichord_data.tenant_role
    ADD CONSTRAINT tenant_role_pkey PRIMARY KEY (role_name);
ALTER TABLE ONLY lexichord_data.term_count
    ADD CONSTRAINT term_count_pkey PRIMARY KEY (term_id, dataset_id);
ALTER TABLE ONLY lexichord_data.term_elsewhere_dataset
    ADD CONSTRAINT term_elsewhere_dataset_pkey PRIMARY KEY (lexeme, dataset_id);
ALTER TABLE ONLY lexichord_data.term_elsewhere
    ADD CONSTRAINT term_elsewhere_pkey PRIMARY KEY (lexeme);
ALTER TABLE ONLY lexichord_data.term
    ADD CONSTRAINT term_lexeme_key UNIQUE (lexeme);
ALTER TABLE ONLY lexichord_data.term
    ADD CONSTRAINT term_pkey PRIMARY KEY (id);
ALTER TABLE ONLY lexichord_data.worker
    ADD CONSTRAINT worker_pkey PRIMARY KEY (id);
CREATE INDEX api_call_called_at ON lexichord_data.api_call USING btree (called_at);
CREATE UNIQUE INDEX api_key_renews ON lexichord_data.api_key USING btree (renews) WHERE (revoked_at IS NULL);
CREATE INDEX card_term_document ON lexichord_data.card_term USING btree (document_id);
CREATE INDEX chunk_context_document ON lexichord_data.chunk_context USING btree (dataset_id, uri);
CREATE INDEX chunk_hnsw ON lexichord_data.chunk USING hnsw (embedding public.halfvec_cosine_ops);
CREATE INDEX dataset_file_file ON lexichord_data.dataset_file USING btree (file_id);
CREATE INDEX dataset_file_run ON lexichord_data.dataset_file USING btree (run_id);
CREATE INDEX dataset_tenant ON lexichord_data.dataset USING btree (tenant_id);
CREATE INDEX document_analyzer_version ON lexichord_data.document USING btree (analyzer_version);
CREATE INDEX document_metadata ON lexichord_data.document USING gin (metadata);
CREATE INDEX document_source ON lexichord_data.document USING btree (dataset_id, sha256);
CREATE INDEX document_text_config ON lexichord_data.document USING btree (text_config);
CREATE INDEX document_uri ON lexichord_data.document USING btree (uri text_pattern_ops);
CREATE INDEX evaluation_set_id ON lexichord_data.evaluation USING btree (set_id);
CREATE INDEX judgment_query ON lexichord_data.judgment USING btree (set_id, query_id);
CREATE INDEX keyword_document ON lexichord_data.keyword USING btree (document_id);
CREATE INDEX posting_term ON lexichord_data.posting USING btree (term_id, impact DESC) INCLUDE (segment, amount, id);
CREATE INDEX query_asked_at ON lexichord_data.query USING btree (asked_at);
CREATE INDEX query_vector_age ON lexichord_data.query_vector USING btree (requested_at);
CREATE INDEX query_vector_waiting ON lexichord_data.query_vector USING btree (requested_at) WHERE ((embedding IS NULL) AND (fault IS NULL));
CREATE UNIQUE INDEX reembedding_open ON lexichord_data.reembedding USING btree ((true)) WHERE (state <> 'dropped'::text);
CREATE INDEX run_file_uri ON lexichord_data.run_file USING btree (uri);
CREATE INDEX table_change_order ON lexichord_data.table_change USING btree (priority, id);
CREATE INDEX term_change_term ON lexichord_data.term_change USING btree (term_id);
CREATE TRIGGER add_to_tail AFTER INSERT ON lexichord_data.keyword REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION lexichord_data.add_to_tail();
CREATE TRIGGER count_deleted AFTER DELETE ON lexichord_data.chunk REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION lexichord_data.count_chunks();
CREATE TRIGGER count_deleted BEFORE DELETE ON lexichord_data.document FOR EACH ROW EXECUTE FUNCTION lexichord_data.count_document();
CREATE TRIGGER count_document AFTER INSERT OR UPDATE OF card_length, dataset_id ON lexichord_data.document FOR EACH ROW EXECUTE FUNCTION lexichord_data.count_document();
CREATE TRIGGER count_inserted AFTER INSERT ON lexichord_data.chunk REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION lexichord_data.count_chunks();
CREATE TRIGGER drop_from_tail AFTER DELETE ON lexichord_data.keyword REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION lexichord_data.drop_from_tail();
CREATE TRIGGER forget_contexts AFTER DELETE ON lexichord_data.document REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION lexichord_data.forget_contexts();
CREATE TRIGGER keep_inserted AFTER INSERT ON lexichord_data.chunk REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION lexichord_data.add_inserted_keywords();
CREATE TRIGGER keep_updated AFTER UPDATE OF lexemes, token_count ON lexichord_data.chunk FOR EACH ROW WHEN (((old.lexemes IS DISTINCT FROM new.lexemes) OR (old.token_count <> new.token_count))) EXECUTE FUNCTION lexichord_data.replace_keyword();
ALTER TABLE ONLY lexichord_data.api_call
    ADD CONSTRAINT api_call_key_id_fkey FOREIGN KEY (key_id) REFERENCES lexichord_data.api_key(id) ON DELETE CASCADE;
ALTER TABLE ONLY lexichord_data.api_key
    ADD CONSTRAINT api_key_renews_fkey FOREIGN KEY (renews) REFERENCES lexichord_data.api_key(id);
ALTER TABLE ONLY lexichord_data.api_key
    ADD CONSTRAINT api_key_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES lexichord_data.tenant(id) ON DELETE SET NULL;
ALTER TABLE ONLY lexichord_data.card_term
    ADD CONSTRAINT card_term_document_id_fkey FOREIGN KEY (document_id) REFERENCES lexichord_data.document(id) ON DELETE CASCADE;
ALTER TABLE ONLY lexichord_data.chunk_context
    ADD CONSTRAINT chunk_context_dataset_id_fkey FOREIGN KEY (dataset_id) REFERENCES lexichord_data.dataset(id) ON DELETE CASCADE;
ALTER TABLE ONLY lexichord_data.chunk
    ADD CONSTRAINT chunk_document_id_dataset_id_fkey FOREIGN KEY (document_id, dataset_id) REFERENCES lexichord_data.document(id, dataset_id) ON DELETE CASCADE;
ALTER TABLE ONLY lexichord_data.dataset_file
    ADD CONSTRAINT dataset_file_dataset_id_fkey FOREIGN KEY (dataset_id) REFERENCES lexichord_data.dataset(id) ON DELETE CASCADE;
ALTER TABLE ONLY lexichord_data.dataset_file
    ADD CONSTRAINT dataset_file_file_id_fkey FOREIGN KEY (file_id) REFERENCES lexichord_data.file(id) ON DELETE CASCADE;
ALTER TABLE ONLY lexichord_data.dataset_file
    ADD CONSTRAINT dataset_file_run_id_fkey FOREIGN KEY (run_id) REFERENCES lexichord_data.run(id) ON DELETE SET NULL;
ALTER TABLE ONLY lexichord_data.dataset
    ADD CONSTRAINT dataset_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES lexichord_data.tenant(id) ON DELETE SET NULL;
ALTER TABLE ONLY lexichord_data.document
    ADD CONSTRAINT document_dataset_id_fkey FOREIGN KEY (dataset_id) REFERENCES lexichord_data.dataset(id) ON DELETE CASCADE;
ALTER TABLE ONLY lexichord_data.elsewhere_dataset
    ADD CONSTRAINT elsewhere_dataset_dataset_id_fkey FOREIGN KEY (dataset_id) REFERENCES lexichord_data.dataset(id) ON DELETE CASCADE;
ALTER TABLE ONLY lexichord_data.evaluation_query
    ADD CONSTRAINT evaluation_query_set_id_fkey FOREIGN KEY (set_id) REFERENCES lexichord_data.evaluation_set(id) ON DELETE CASCADE;
ALTER TABLE ONLY lexichord_data.evaluation_result
    ADD CONSTRAINT evaluation_result_evaluation_id_fkey FOREIGN KEY (evaluation_id) REFERENCES lexichord_data.evaluation(id) ON DELETE CASCADE;
ALTER TABLE ONLY lexichord_data.evaluation
    ADD CONSTRAINT evaluation_set_id_fkey FOREIGN KEY (set_id) REFERENCES lexichord_data.evaluation_set(id);
ALTER TABLE ONLY lexichord_data.judgment
    ADD CONSTRAINT judgment_set_id_query_id_fkey FOREIGN KEY (set_id, query_id) REFERENCES lexichord_data.evaluation_query(set_id, query_id) ON DELETE CASCADE;
ALTER TABLE ONLY lexichord_data.keyword
    ADD CONSTRAINT keyword_chunk_id_fkey FOREIGN KEY (chunk_id) REFERENCES lexichord_data.chunk(id) ON DELETE CASCADE;
ALTER TABLE ONLY lexichord_data.original
    ADD CONSTRAINT original_document_id_fkey FOREIGN KEY (document_id) REFERENCES lexichord_data.document(id) ON DELETE CASCADE;
ALTER TABLE ONLY lexichord_data.query_hit
    ADD CONSTRAINT query_hit_query_id_fkey FOREIGN KEY (query_id) REFERENCES lexichord_data.query(id) ON DELETE CASCADE;
ALTER TABLE ONLY lexichord_data.run_file
    ADD CONSTRAINT run_file_run_id_fkey FOREIGN KEY (run_id) REFERENCES lexichord_data.run(id) ON DELETE CASCADE;
ALTER TABLE ONLY lexichord_data.table_failure
    ADD CONSTRAINT table_failure_table_id_fkey FOREIGN KEY (table_id) REFERENCES lexichord_data.indexed_table(id) ON DELETE CASCADE;
ALTER TABLE ONLY lexichord_data.table_row
    ADD CONSTRAINT table_row_document_id_fkey FOREIGN KEY (document_id) REFERENCES lexichord_data.document(id) ON DELETE CASCADE;
ALTER TABLE ONLY lexichord_data.table_row
    ADD CONSTRAINT table_row_table_id_fkey FOREIGN KEY (table_id) REFERENCES lexichord_data.indexed_table(id) ON DELETE CASCADE;
ALTER TABLE ONLY lexichord_data.tenant_role
    ADD CONSTRAINT tenant_role_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES lexichord_data.tenant(id) ON DELETE CASCADE;
ALTER TABLE ONLY lexichord_data.term_elsewhere_dataset
    ADD CONSTRAINT term_elsewhere_dataset_dataset_id_fkey FOREIGN KEY (dataset_id) REFERENCES lexichord_data.dataset(id) ON DELETE CASCADE;
CREATE POLICY added ON lexichord_data.card_term FOR INSERT WITH CHECK (true);
CREATE POLICY added ON lexichord_data.chunk FOR INSERT WITH CHECK (true);
CREATE POLICY added ON lexichord_data.document FOR INSERT WITH CHECK (true);
CREATE POLICY changed ON lexichord_data.chunk FOR UPDATE USING (true);
CREATE POLICY changed ON lexichord_data.document FOR UPDATE USING (true);
CREATE POLICY deleted ON lexichord_data.card_term FOR DELETE USING (true);
CREATE POLICY deleted ON lexichord_data.chunk FOR DELETE USING (true);
CREATE POLICY deleted ON lexichord_data.document FOR DELETE USING (true);
CREATE POLICY seen ON lexichord_data.card_term FOR SELECT USING ((NOT (document_id IN ( SELECT lexichord_data.hidden_documents() AS hidden_documents))));
CREATE POLICY seen ON lexichord_data.chunk FOR SELECT USING ((NOT (document_id IN ( SELECT lexichord_data.hidden_documents() AS hidden_documents))));
CREATE POLICY seen ON lexichord_data.document FOR SELECT USING ((NOT (id IN ( SELECT lexichord_data.hidden_documents() AS hidden_documents))));
