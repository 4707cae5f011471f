-- A database with migrations 1 to 18, engine vectorchord, two segments of its keyword index, one of them superseded:
-- pg_dump --inserts, without its settings. The documents of release_13.sql.
set check_function_bodies = false;

SELECT pg_catalog.set_config('search_path', '', false);

CREATE SCHEMA lexichord;

CREATE SCHEMA lexichord_data;

CREATE TYPE lexichord.hit AS (
	chunk_id bigint,
	document_id bigint,
	dataset text,
	uri text,
	title text,
	heading text,
	char_start integer,
	char_end integer,
	page integer,
	content text,
	context text,
	score double precision,
	dense_score double precision,
	dense_rank bigint,
	keyword_score double precision,
	keyword_rank bigint,
	fused_score double precision
);

CREATE TYPE lexichord.located_chunk AS (
	chunk_id bigint,
	document_id bigint,
	dataset text,
	uri text,
	title text,
	heading text,
	char_start integer,
	char_end integer,
	page integer,
	content text,
	context text
);

CREATE TYPE lexichord.numbered_hit AS (
	query_number integer,
	chunk_id bigint,
	document_id bigint,
	dataset text,
	uri text,
	title text,
	heading text,
	char_start integer,
	char_end integer,
	page integer,
	content text,
	context text,
	score double precision,
	dense_score double precision,
	dense_rank bigint,
	keyword_score double precision,
	keyword_rank bigint,
	fused_score double precision
);

CREATE TYPE lexichord.variant_hit AS (
	chunk_id bigint,
	document_id bigint,
	dataset text,
	uri text,
	title text,
	heading text,
	char_start integer,
	char_end integer,
	page integer,
	content text,
	context text,
	score double precision,
	dense_score double precision,
	dense_rank bigint,
	keyword_score double precision,
	keyword_rank bigint,
	fused_score double precision,
	variant_ranks jsonb,
	variant_scores jsonb
);

CREATE FUNCTION lexichord.are_weights(weights double precision[]) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select coalesce(cardinality(weights) = 2 and least(weights[1], weights[2]) >= 0
                    and weights[1] + weights[2] between 1e-6 and 1e6, false)
$$;

CREATE FUNCTION lexichord.bm25_parameters() RETURNS TABLE(k1 double precision, b double precision, average_length double precision)
    LANGUAGE sql STABLE ROWS 1 PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    select p.k1, p.b, n.average_length from lexichord_data.bm25_parameters() as p, corpus_statistics n
$$;

CREATE FUNCTION lexichord.bound_space(OUT space text, OUT dimension integer) RETURNS record
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
begin
    lock table chunk in access share mode;
    select concat_ws('/', s.provider, s.model, s.dimension), s.dimension into space, dimension from embedding_space s;
end $$;

CREATE FUNCTION lexichord.build_indexes() RETURNS boolean
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    select lexichord.make_indexes(anew => false)
$$;

CREATE FUNCTION lexichord.default_depth() RETURNS integer
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN 100;

CREATE FUNCTION lexichord.card_candidates(query text, depth integer DEFAULT lexichord.default_depth(), documents bigint[] DEFAULT NULL::bigint[]) RETURNS TABLE(document_id bigint, rank bigint, score double precision)
    LANGUAGE plpgsql STABLE ROWS 100
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
declare
    terms tsvector := lexichord.query_lexemes(query, documents);
begin
    return query
    with matched as (
        select q.lexeme, cardinality(q.positions) as times, c.document_id, c.tf
        from unnest(terms) as q join card_term c on c.lexeme = q.lexeme collate "C"
    ), weighed as (
        select m.lexeme, max(m.times) * ln(1 + (max(n.document_count) - count(*) + 0.5::float8) / (count(*) + 0.5::float8)) ^ 2 as weight
        from matched m, corpus_statistics n group by m.lexeme
    ), scored as (
        select m.document_id, sum(w.weight * m.tf * 2.2::float8
               / (m.tf + 1.2::float8 * (0.7::float8 + 0.3::float8 * d.card_length * n.document_count / n.card_token_count))) as score
        from matched m join weighed w using (lexeme) join document d on d.id = m.document_id, corpus_statistics n
        where documents is null or m.document_id = any(documents)
        group by m.document_id
    )
    select s.document_id, row_number() over (order by s.score desc, s.document_id), s.score
    from scored s
    order by s.score desc, s.document_id
    limit depth;
end $$;

CREATE FUNCTION lexichord.check_boost(boost jsonb) RETURNS void
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
    wrong text;
begin
    if jsonb_typeof(boost) <> 'object' then
        wrong := jsonb_typeof(boost);
    else
        select format('%s: %s', to_jsonb(e.key), e.value) into wrong
        from jsonb_each(boost) as e where e.key !~ '^\d{1,18}$' or jsonb_typeof(e.value) <> 'number' limit 1;
    end if;
    if wrong is not null then
        raise exception 'boost must be an object, document id to points, such as {"12": 0.5}, not %', wrong
            using errcode = 'invalid_parameter_value';
    end if;
end $_$;

CREATE FUNCTION lexichord.check_count(argument text, amount bigint) RETURNS bigint
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    if amount < 0 then
        raise exception '% must be at least 0, not %', argument, amount using errcode = 'invalid_parameter_value';
    end if;
    return amount;
end $$;

CREATE FUNCTION lexichord.check_filter(filter jsonb, documents bigint[]) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
declare
    form text := lexichord.filter_form(filter);
    operator text;
    wanted text;
    part jsonb;
begin
    if form in ('and', 'or') then
        for part in select jsonb_array_elements(filter -> form) loop
            perform lexichord.check_filter(part, documents);
        end loop;
        return;
    end if;
    if form = 'condition' then
        operator := lexichord.filter_operator(filter ->> 'op');
        wanted := case
            when operator in ('empty', 'not empty') then null
            when operator in ('in', 'nin') then 'array'
            when operator in ('contains', 'not contains', 'start with', 'end with', 'before', 'after') then 'string'
            when operator in ('gt', 'gte', 'lt', 'lte') and jsonb_typeof(filter -> 'value') is distinct from 'number' then 'string'
        end;
        if wanted <> jsonb_typeof(filter -> 'value') or (wanted is not null and not filter ? 'value')
           or (operator in ('eq', 'ne') and not filter ? 'value') then
            raise exception 'filter: operator "%" on key "%" needs a value of type %', operator, filter ->> 'key', coalesce(wanted, 'any')
                using errcode = 'invalid_parameter_value';
        end if;
        if operator in ('before', 'after') and not pg_input_is_valid(filter ->> 'value', 'timestamptz') then
            raise exception 'filter: "%" is no date', filter ->> 'value'
                using errcode = 'invalid_parameter_value', hint = 'Write it as 2026-01-31 or 2026-01-31T12:00:00Z.';
        end if;
    end if;
    for wanted in select filter ->> 'key' where form = 'condition'
                  union all select jsonb_object_keys(filter) where form = 'containment' loop
        continue when wanted in ('dataset', 'uri', 'title', 'media_type', 'folder');  -- built in: document_facts
        if not exists (select from document d where d.metadata ? wanted and d.id = any(documents)) then
            raise exception 'filter: no document in scope has the key "%"', wanted
                using errcode = 'invalid_parameter_value', hint = 'select * from lexichord.list_keys();';
        end if;
    end loop;
end $$;

CREATE FUNCTION lexichord.check_search(query text, query_vector public.halfvec, query_space text, k integer, depth integer, fusion text, weights double precision[]) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
declare
    problem text := case
        when query !~ '\S' or coalesce(query, query_vector::text) is null then 'the query is empty'
        when depth is null or depth not between lexichord.default_depth() and 10000
            then format('depth must be between %s and 10000', lexichord.default_depth())
        when k is null or k < 1 then 'k must be at least 1'
        when k > depth then format('k (%s) is more than the %s candidates of a channel: raise depth as well', k, depth)
        when fusion is null or fusion not in ('zscore', 'rrf') then 'fusion must be zscore or rrf'
        when not lexichord.are_weights(weights) then 'weights must be two numbers, {dense,keyword}, not negative and not both 0'
    end;
    bound text;
    dimension integer;
begin
    if problem is not null then
        raise exception '%', problem using errcode = 'invalid_parameter_value';
    end if;
    if query_vector is null then
        return;
    end if;
    select b.space, b.dimension into bound, dimension from lexichord.bound_space() as b;
    if query_space <> bound or public.vector_dims(query_vector) <> dimension then
        raise exception 'the query''s vector is of %, the database''s vectors are of %',
            coalesce(query_space, public.vector_dims(query_vector) || ' dimensions'), bound
            using errcode = 'data_exception', hint = 'Embed the query with the database''s own model.';
    end if;
end $$;

CREATE FUNCTION lexichord.check_space(space text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
declare
    bound text := (select b.space from lexichord.bound_space() as b);
begin
    if space <> bound then
        raise exception 'the vectors are of %, the database''s are of %', space, bound
            using errcode = 'data_exception', hint = 'Embed with the database''s own model.';
    end if;
end $$;

CREATE FUNCTION lexichord.check_variants(variants jsonb, k integer, depth integer) RETURNS void
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    problem text := case
        when jsonb_typeof(variants) is distinct from 'array' or jsonb_array_length(variants) not between 1 and 100
            then 'variants must be an array of 1 to 100 objects'
        when k is null or k < 1 then 'k must be at least 1'
        when k > depth then format('k (%s) is more than the %s candidates of a channel: raise depth as well', k, depth)
    end;
begin
    if problem is null then
        select min(case
            when jsonb_typeof(v) <> 'object' then 'a variant must be an object'
            when coalesce(v ->> 'name', '') = '' then 'a variant has no name'
            when (select count(*) from jsonb_array_elements(variants) as o where o ->> 'name' = v ->> 'name') > 1
                then format('two variants have the name %L', v ->> 'name')
            when jsonb_typeof(v -> 'weight') <> 'number' or (v -> 'weight')::numeric not between 1e-6 and 1e6
                then format('the weight of variant %L must be a number above 0', v ->> 'name')
            when jsonb_typeof(v -> 'documents') not in ('array', 'null')
                then format('the documents of variant %L must be an array of ids', v ->> 'name')
        end) into problem
        from jsonb_array_elements(variants) as v;
    end if;
    if problem is not null then
        raise exception '%', problem using errcode = 'invalid_parameter_value';
    end if;
end $$;

CREATE FUNCTION lexichord.chunk_places(chunk_ids bigint[]) RETURNS TABLE(chunk_id bigint, document_id bigint, ordinal integer, section integer)
    LANGUAGE sql STABLE ROWS 100
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    select c.id, c.document_id, c.ordinal,
           coalesce((select max(o.ordinal) + 1 from chunk o
                     where o.document_id = c.document_id and o.ordinal < c.ordinal and o.heading <> c.heading), 0)
    from chunk c
    where c.id = any(chunk_ids)
    order by c.document_id, c.ordinal
$$;

CREATE FUNCTION lexichord.chunks_without_other(after bigint, batch integer) RETURNS TABLE(chunk_id bigint, context text, content text, row_version text)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    select c.id, c.context, c.content, c.xmin::text from chunk c
    where c.other_embedding is null and c.id > coalesce(after, 0) order by c.id limit batch
$$;

CREATE FUNCTION lexichord.chunks_without_vector(after bigint, batch integer) RETURNS TABLE(chunk_id bigint, context text, content text)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    select c.id, c.context, c.content from chunk c
    where c.embedding is null and c.id > coalesce(after, 0) order by c.id limit batch
$$;

CREATE FUNCTION lexichord.column_list(alias text, columns text[]) RETURNS text
    LANGUAGE sql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select coalesce(string_agg(format('%s.%I', alias, name), ', ' order by place), '')
    from unnest(columns) with ordinality as c (name, place)
$$;

CREATE FUNCTION lexichord.compare_evaluations(a bigint, b bigint) RETURNS TABLE(metric text, query_id text, a_value double precision, b_value double precision, difference double precision)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
declare
    of_a bigint := (select e.set_id from evaluation e where e.id = a);
    of_b bigint := (select e.set_id from evaluation e where e.id = b);
    problem text := case
        when of_a is null then format('there is no evaluation %s', a)
        when of_b is null then format('there is no evaluation %s', b)
        when of_a <> of_b then format('evaluations %s and %s are of different questions or judgments', a, b)
    end;
begin
    if problem is not null then
        raise exception '%', problem
            using errcode = 'invalid_parameter_value', hint = 'See list_evaluations().';
    end if;
    return query
        select m.name, r.query_id, m.value::double precision, n.value::double precision,
               n.value::double precision - m.value::double precision
        from evaluation e
        join evaluation_query q on q.set_id = e.set_id
        join evaluation_result r on r.evaluation_id = e.id and r.query_id = q.query_id
        join evaluation_result o on o.evaluation_id = b and o.query_id = q.query_id
        cross join jsonb_each_text(r.metrics) as m (name, value)
        join lateral jsonb_each_text(o.metrics) as n (name, value) on n.name = m.name
        where e.id = a and m.value is not null and n.value is not null
        order by m.name, q.place;
end $$;

CREATE FUNCTION lexichord.configuration() RETURNS TABLE(engine text, text_config text, space text, by_document boolean)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    select c.engine, c.text_config::text, concat_ws('/', s.provider, s.model, s.dimension), c.by_document
    from configuration c, embedding_space s
$$;

CREATE FUNCTION lexichord.content_hash(content text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select encode(sha256(convert_to(content, 'UTF8')), 'hex')
$$;

CREATE FUNCTION lexichord.count_by(key text, datasets text[] DEFAULT NULL::text[], documents bigint[] DEFAULT NULL::bigint[], uri_prefix text DEFAULT NULL::text, filter jsonb DEFAULT NULL::jsonb) RETURNS TABLE(value jsonb, documents_with bigint)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
declare
    scope bigint[] := lexichord.scope_documents(datasets, documents, uri_prefix, filter);
begin
    perform lexichord.check_filter(jsonb_build_object('key', count_by.key, 'op', 'not empty'),
                                   coalesce(scope, (select array_agg(d.id) from document d)));
    return query
    select v.one, count(distinct d.id)
    from document d join dataset s on s.id = d.dataset_id,
         lexichord.document_facts(s.name, d.uri, d.title, d.media_type, d.metadata) as f (facts),
         jsonb_array_elements(case jsonb_typeof(f.facts -> count_by.key) when 'array' then f.facts -> count_by.key
                              else jsonb_build_array(f.facts -> count_by.key) end) as v (one)
    where (scope is null or d.id = any(scope)) and f.facts ? count_by.key
    group by v.one order by count(distinct d.id) desc, v.one;
end $$;

CREATE FUNCTION lexichord.count_documents(datasets text[] DEFAULT NULL::text[], documents bigint[] DEFAULT NULL::bigint[], uri_prefix text DEFAULT NULL::text, filter jsonb DEFAULT NULL::jsonb) RETURNS bigint
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    select coalesce(cardinality(scope), (select count(*) from document))
    from lexichord.scope_documents(datasets, documents, uri_prefix, filter) as scope
$$;

CREATE FUNCTION lexichord.count_faults() RETURNS TABLE(kind text, amount bigint)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    select 'documents without chunks', count(*) from document d
    where d.text <> '' and not exists (select from chunk c where c.document_id = d.id)
    union all
    select 'wrong term statistics', count(*)
    from (select u.lexeme, count(*) as df from chunk c, unnest(c.lexemes) as u group by u.lexeme) as s
         full join term_statistics t on t.lexeme = s.lexeme
         left join (select k.term_id, sum(k.df) as df
                    from (select * from term_count union all select * from term_change) as k group by 1) as k on k.term_id = t.id
    where coalesce(s.df, 0) <> coalesce(t.df, 0) or coalesce(s.df, 0) <> coalesce(k.df, 0)
    union all
    select 'chunks that keyword searches miss', count(*)
    from chunk c where c.lexemes <> ''::tsvector and not exists (select from keyword k where k.chunk_id = c.id)
    union all
    select 'wrong corpus counts', count(*)
    from corpus_statistics n, (select count(*) as chunks, coalesce(sum(token_count), 0) as tokens from chunk) as c,
         (select count(*) as documents, coalesce(sum(card_length), 0) as tokens from document) as d
    where (n.chunk_count, n.token_count, n.document_count, n.card_token_count) <> (c.chunks, c.tokens, d.documents, d.tokens)
$$;

CREATE FUNCTION lexichord.create_api_key(name text, digest bytea, datasets text[] DEFAULT NULL::text[], writes boolean DEFAULT false) RETURNS TABLE(key_id bigint, name text, datasets text[], writes boolean, created_at timestamp with time zone, revoked_at timestamp with time zone)
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    insert into api_key as k (name, digest, datasets, writes)
    values (create_api_key.name, create_api_key.digest, create_api_key.datasets, create_api_key.writes)
    returning k.id, k.name, k.datasets, k.writes, k.created_at, k.revoked_at
$$;

CREATE FUNCTION lexichord.database_identity() RETURNS text
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select concat_ws(' ', extract(epoch from pg_postmaster_start_time()), d.oid) from pg_database d where d.datname = current_database()
$$;

CREATE FUNCTION lexichord.database_status() RETURNS TABLE(engine text, text_config text, space text, migration integer, datasets bigint, documents bigint, chunks bigint, chunks_without_vector bigint, bytes bigint)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    select c.engine, c.text_config, c.space, (select max(m.number) from migration m),
           (select count(*) from dataset), n.document_count, n.chunk_count,
           (select count(*) from chunk where embedding is null),
           pg_database_size(current_database())
    from lexichord.configuration() c, corpus_statistics n
$$;

CREATE FUNCTION lexichord.default_feedback_documents() RETURNS integer
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN 20;

CREATE FUNCTION lexichord.default_fusion() RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN 'zscore'::text;

CREATE FUNCTION lexichord.default_k() RETURNS integer
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN 10;

CREATE FUNCTION lexichord.default_weights() RETURNS double precision[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN '{0.35,0.65}'::double precision[];

CREATE FUNCTION lexichord.delete_documents(documents bigint[]) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
declare
    gone bigint;
begin
    perform lexichord_data.join_writers();
    perform from document d where d.id = any(documents) order by d.id for update;  -- two who delete wait in one order
    delete from document d where d.id = any(documents);
    get diagnostics gone = row_count;
    perform lexichord.fold_statistics(from_changes => 32);
    return gone;
end $$;

CREATE FUNCTION lexichord.dense_candidates(query_vector public.halfvec, depth integer DEFAULT lexichord.default_depth(), documents bigint[] DEFAULT NULL::bigint[]) RETURNS TABLE(chunk_id bigint, document_id bigint, rank bigint, score double precision)
    LANGUAGE plpgsql STABLE ROWS 100
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    SET "vchordrq.probes" TO ''
    SET "vchordrq.max_scan_tuples" TO '-1'
    SET "vchordrq.enable_scan" TO 'on'
    AS $$
declare
    settings record;
    tried text;
    chunks bigint[];
    owners bigint[];
    ranks bigint[];
    scores double precision[];
begin
    if documents is not null and lexichord.is_narrow(documents) then
        return query select * from lexichord.exact_dense_candidates(query_vector, depth, documents);
        return;
    end if;
    select p.probes, p.lists into settings from lexichord_data.dense_probes() as p;
    -- What the scope drops is replaced by the next nearest, but only from the probed lists: if they do not hold
    -- enough, all are probed.
    foreach tried in array array[settings.probes, settings.lists] loop
        perform set_config('vchordrq.probes', tried, true);
        execute format('select array_agg(c.id), array_agg(c.document_id), array_agg(c.rank), array_agg(c.score)
                        from (%s) as c (id, document_id, rank, score)', lexichord.dense_statement(documents is not null))
        into chunks, owners, ranks, scores using query_vector, depth, documents;
        exit when cardinality(chunks) >= depth or settings.probes = settings.lists;
    end loop;
    return query select * from unnest(chunks, owners, ranks, scores);
end $$;

CREATE FUNCTION lexichord.dense_recall(query_vector public.halfvec, k integer DEFAULT lexichord.default_k(), documents bigint[] DEFAULT NULL::bigint[]) RETURNS double precision
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    with exact as (
        select min(e.score) as least, count(*) as wanted
        from lexichord.exact_dense_candidates(query_vector, k, documents) as e
    ), approximate as (
        select d.score from lexichord.dense_candidates(query_vector, greatest(k, lexichord.default_depth()), documents) as d
        where d.rank <= k
    )
    select count(*) filter (where a.score >= e.least - 1e-6)::float8 / nullif(e.wanted, 0)
    from exact e left join approximate a on true group by e.wanted
$$;

CREATE FUNCTION lexichord.dense_statement(scoped boolean) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
    select format($statement$
        select c.id, c.document_id, row_number() over (order by c.distance + 0::float8, c.id), 1::float8 - c.distance
        from (select id, document_id, embedding operator(public.<=>) $1 as distance
              from lexichord_data.chunk where embedding is not null %s
              order by embedding operator(public.<=>) $1 limit $2) as c
        where c.distance <> 'NaN'::float8
        $statement$, case when scoped then 'and document_id = any($3)' end)
$_$;

CREATE FUNCTION lexichord.discover_files(query text, query_vector public.halfvec DEFAULT NULL::public.halfvec, k integer DEFAULT lexichord.default_k(), depth integer DEFAULT lexichord.default_depth(), datasets text[] DEFAULT NULL::text[], documents bigint[] DEFAULT NULL::bigint[], uri_prefix text DEFAULT NULL::text, filter jsonb DEFAULT NULL::jsonb, aggregate text DEFAULT 'max'::text, file_weights double precision[] DEFAULT '{0.9,0.1}'::double precision[], fusion text DEFAULT lexichord.default_fusion(), weights double precision[] DEFAULT lexichord.default_weights(), query_space text DEFAULT NULL::text) RETURNS TABLE(document_id bigint, dataset text, uri text, title text, score double precision, card_score double precision, chunk_score double precision, hits bigint)
    LANGUAGE plpgsql STABLE ROWS 10
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
declare
    scope bigint[];
    room bigint;
begin
    perform lexichord.check_search(query, query_vector, query_space, k, depth, fusion, weights);
    if aggregate is null or aggregate not in ('max', 'mean', 'sum') then
        raise exception 'aggregate must be max, mean or sum' using errcode = 'invalid_parameter_value';
    elsif not lexichord.are_weights(file_weights) then
        raise exception 'file_weights must be two numbers, {card,chunks}, not negative and not both 0'
            using errcode = 'invalid_parameter_value';
    end if;
    scope := lexichord.scope_documents(datasets, documents, uri_prefix, filter);
    room := least(depth, coalesce(cardinality(scope), (select count(*) from (select from document limit depth) as d)));
    return query
    with card as materialized (
        select c.* from lexichord.card_candidates(query, depth, scope) as c
    ), own as (
        select jsonb_object_agg(c.document_id, 0) as boost from card c where c.rank <= 3
    ), chunks as (
        select f.document_id, count(*) as hits,
               case aggregate when 'max' then max(f.score) when 'mean' then avg(f.score) else sum(f.score) end as score
        from own, lexichord.fuse_terms(lexichord.query_lexemes(query, scope), query_vector, depth, scope, fusion, weights, own.boost) as f
        group by f.document_id
    ), card_scale as (
        select avg(c.score) as mean, nullif(stddev_pop(c.score), 0) as spread, min(c.score) as lowest
        from (select k.score from card k union all select 0 from generate_series(1, room - (select count(*) from card))) as c
    ), chunk_scale as (
        select avg(h.score) as mean, nullif(stddev_pop(h.score), 0) as spread, min(h.score) as lowest from chunks h
    )
    select d.id, s.name, d.uri, d.title,
           file_weights[1] * coalesce((coalesce(c.score, a.lowest) - a.mean) / a.spread, 0)
           + file_weights[2] * coalesce((coalesce(h.score, b.lowest) - b.mean) / b.spread, 0),
           c.score, h.score, coalesce(h.hits, 0)
    from (card c full join chunks h on h.document_id = c.document_id), card_scale a, chunk_scale b, document d, dataset s
    where d.id = coalesce(c.document_id, h.document_id) and s.id = d.dataset_id
    order by 5 desc, 1
    limit k;
end $$;

CREATE FUNCTION lexichord.document_digests(dataset text, uris text[]) RETURNS TABLE(document_id bigint, uri text, sha256 text, recipe text)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    select d.id, d.uri, d.sha256, d.recipe
    from document d join dataset s on s.id = d.dataset_id
    where s.name = dataset and d.uri = any(uris)
$$;

CREATE FUNCTION lexichord.document_facts(dataset text, uri text, title text, media_type text, metadata jsonb) RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
    select jsonb_build_object('dataset', dataset, 'uri', uri, 'title', title, 'media_type', media_type,
                              'folder', regexp_replace(uri, '/?[^/]*$', '')) || metadata
$_$;

CREATE FUNCTION lexichord.document_hashes(dataset text) RETURNS TABLE(document_id bigint, uri text, chunks bigint, vectors bigint, hash text)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    select d.id, d.uri, c.chunks, c.vectors, lexichord.content_hash(lexichord.content_hash(r::text) || c.hashes)
    from dataset s join document d on d.dataset_id = s.id,
         lexichord.read_document(d.id) as r,
         lateral (
             select count(*) as chunks, count(k.embedding) as vectors,
                    coalesce(string_agg(lexichord.content_hash(k::text), '' order by k.ordinal), '') as hashes
             from lexichord.read_chunks(d.id) as k) as c
    where s.name = document_hashes.dataset
    order by d.uri
$$;

CREATE FUNCTION lexichord.document_recipes(datasets text[] DEFAULT NULL::text[]) RETURNS TABLE(document_id bigint, uri text, recipe text, updated_at timestamp with time zone)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    select d.id, d.uri, d.recipe, d.updated_at
    from document d join dataset s on s.id = d.dataset_id
    where datasets is null or s.name = any(datasets)
    order by d.id
$$;

CREATE FUNCTION lexichord.document_text(document bigint) RETURNS text
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    select d.text from document d where d.id = document
$$;

CREATE FUNCTION lexichord.document_twins(dataset text, sha256s text[]) RETURNS TABLE(document_id bigint, uri text, sha256 text)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    select d.id, d.uri, d.sha256
    from document d join dataset s on s.id = d.dataset_id
    where s.name = dataset and d.sha256 = any(sha256s)
    order by d.uri collate "C"
$$;

CREATE FUNCTION lexichord.documents_under(dataset text, folder text) RETURNS TABLE(document_id bigint, uri text, recipe text)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    select d.id, d.uri, d.recipe
    from document d join dataset s on s.id = d.dataset_id
    where s.name = dataset and starts_with(d.uri, rtrim(folder, '/') || '/')
    order by d.uri
$$;

CREATE FUNCTION lexichord.drop_other(wait_ms integer DEFAULT 200) RETURNS text
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    SET lock_timeout TO '0'
    SET client_min_messages TO 'warning'
    AS $$
declare
    dropped text;
begin
    perform set_config('lock_timeout', wait_ms::text, true);
    perform lexichord.hold_writers();
    lock table chunk in access exclusive mode;
    update reembedding r set state = 'dropped', seen_at = clock_timestamp() where r.state <> 'dropped'
    returning concat_ws('/', r.provider, r.model, r.dimension) into dropped;
    if dropped is null then
        raise exception 'there are no other vectors to drop' using errcode = 'invalid_parameter_value';
    end if;
    drop trigger forget_other_vector on chunk;
    perform lexichord.drop_other_index();
    alter table chunk drop column other_embedding;
    return dropped;
end $$;

CREATE FUNCTION lexichord.drop_other_index() RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    SET client_min_messages TO 'warning'
    AS $$
declare
    other text := (select o.index_name || '_other' from lexichord.vector_index('other_embedding') as o);
begin
    execute format('drop index if exists %I', other);
    delete from index_build b where b.index_name = other;
end $$;

CREATE FUNCTION lexichord.drop_segment(number integer) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
begin
    execute format('lock table %s in access exclusive mode nowait', lexichord.segment_name(number));
    execute format('drop table %s', lexichord.segment_name(number));
    delete from keyword_segment s where s.number = drop_segment.number;
exception when lock_not_available then
    null;
end $$;

CREATE FUNCTION lexichord.evaluation_results(evaluation bigint) RETURNS TABLE(query_id text, query text, hint text, intent text, answerable boolean, ms double precision, error text, confidence double precision, abstained boolean, metrics jsonb, passages jsonb, files text[], answer text)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    select r.query_id, q.text, q.hint, q.intent, q.answerable, r.ms, r.error, r.confidence, r.abstained,
           r.metrics, r.passages, r.files, r.answer
    from evaluation e
    join evaluation_result r on r.evaluation_id = e.id
    join evaluation_query q on q.set_id = e.set_id and q.query_id = r.query_id
    where e.id = evaluation_results.evaluation
    order by q.place
$$;

CREATE FUNCTION lexichord.exact_dense_candidates(query_vector public.halfvec, depth integer DEFAULT lexichord.default_depth(), documents bigint[] DEFAULT NULL::bigint[]) RETURNS TABLE(chunk_id bigint, document_id bigint, rank bigint, score double precision)
    LANGUAGE plpgsql STABLE ROWS 100
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $_$
begin
    -- Ordered by the score, which no vector index offers, so that none is taken. NaN: zeros are near nothing.
    return query execute format($query$
        select c.id, c.document_id, row_number() over (order by c.score desc, c.id), c.score
        from (select id, document_id, 1 - (embedding operator(public.<=>) $1) as score
              from chunk where embedding is not null %s) as c
        where c.score <> 'NaN'
        order by c.score desc, c.id limit $2
        $query$, case when documents is not null then 'and document_id = any($3)' end)
    using query_vector, depth, documents;
end $_$;

CREATE FUNCTION lexichord.exact_keyword_candidates(query text, depth integer DEFAULT lexichord.default_depth(), documents bigint[] DEFAULT NULL::bigint[]) RETURNS TABLE(chunk_id bigint, document_id bigint, rank bigint, score double precision)
    LANGUAGE plpgsql STABLE ROWS 100
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
begin
    return query select * from lexichord.exact_term_candidates(lexichord.query_lexemes(query, documents), depth, documents);
end $$;

CREATE FUNCTION lexichord.exact_term_candidates(terms tsvector, depth integer DEFAULT lexichord.default_depth(), documents bigint[] DEFAULT NULL::bigint[], among bigint[] DEFAULT NULL::bigint[]) RETURNS TABLE(chunk_id bigint, document_id bigint, rank bigint, score double precision)
    LANGUAGE plpgsql STABLE ROWS 100
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $_$
declare
    query public.sparsevec;
begin
    select ('{' || string_agg(w.term_id || ':' || w.weight::real, ',') || '}/1000000000')::public.sparsevec into query
    from lexichord.keyword_weights(terms) as w;
    if query is null then
        return;
    end if;
    return query execute format($query$
        select c.chunk_id, c.document_id, row_number() over (order by c.distance, c.chunk_id), -c.distance
        from (select k.chunk_id, k.document_id, k.impacts operator(public.<#>) $1 as distance
              from keyword k where true %s %s order by 3, 1 limit $2) as c
        where c.distance < 0
        $query$, case when documents is not null then 'and k.document_id = any($3)' end,
                 case when among is not null then 'and k.chunk_id = any($4)' end)
    using query, depth, documents, among;
end $_$;

CREATE FUNCTION lexichord.expand_context(chunk_ids bigint[], neighbours integer DEFAULT 1, whole_section boolean DEFAULT false) RETURNS TABLE(chunk_id bigint, document_id bigint, uri text, title text, heading text, char_start integer, char_end integer, content text)
    LANGUAGE sql STABLE ROWS 10
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    select c.id, d.id, d.uri, d.title, c.heading, around.first, around.last,
           substring(d.text from around.first + 1 for around.last - around.first)
    from unnest(chunk_ids) with ordinality as wanted (id, place)
    join chunk c on c.id = wanted.id
    join document d on d.id = c.document_id,
    lateral (
        select min(n.char_start) as first, max(n.char_end) as last
        from chunk n
        where n.document_id = c.document_id
          and (abs(n.ordinal - c.ordinal) <= greatest(neighbours, 0)
               or (whole_section and n.heading = c.heading and c.heading <> '' and not exists (
                   select from chunk o
                   where o.document_id = c.document_id and o.heading <> c.heading
                     and o.ordinal between least(n.ordinal, c.ordinal) and greatest(n.ordinal, c.ordinal))))
    ) as around
    order by wanted.place
$$;

CREATE FUNCTION lexichord.extension_faults(engine text) RETURNS TABLE(extension text, version text, problem text, mended_in text, severity text, remedy text)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select f.extension, p.version, f.problem, f.mended_in, f.severity,
           case when f.mended_in is null then 'no release mends it yet'
                else format('install %s %s or later', f.extension, f.mended_in)
                    || case when p.installed
                            then format(' and run: alter extension %I update; select lexichord.rebuild_indexes();', f.extension)
                            else '' end
           end
    from lexichord.known_faults() as f
    join (select a.name, coalesce(a.installed_version, a.default_version) as version, a.installed_version is not null as installed
          from pg_available_extensions a) as p
         on p.name = f.extension
    where extension_faults.engine = any(f.engines)
      and lexichord.release_numbers(p.version)
          between coalesce(lexichord.release_numbers(f.first_version), '{0}')
              and coalesce(lexichord.release_numbers(f.last_version), lexichord.release_numbers(p.version))
    order by f.severity, f.extension, lexichord.release_numbers(f.mended_in) desc, f.problem
$$;

CREATE FUNCTION lexichord.failed_files(dataset text) RETURNS TABLE(uri text, reason text)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    select f.uri, f.reason
    from run r join run_file f on f.run_id = r.id
    where r.dataset = failed_files.dataset and f.status = 'failed'
      and not exists (
          select from run_file g join run l on l.id = g.run_id
          where g.uri = f.uri and l.dataset = r.dataset and g.run_id > f.run_id)
      and not exists (
          select from run l
          where l.dataset = r.dataset and l.source = r.source and l.id > r.id and l.finished_at is not null)
    order by f.uri
$$;

CREATE FUNCTION lexichord.feedback_chunks(query text, query_vector public.halfvec DEFAULT NULL::public.halfvec, feedback_documents integer DEFAULT lexichord.default_feedback_documents(), depth integer DEFAULT lexichord.default_depth(), datasets text[] DEFAULT NULL::text[], documents bigint[] DEFAULT NULL::bigint[], uri_prefix text DEFAULT NULL::text, filter jsonb DEFAULT NULL::jsonb, fusion text DEFAULT lexichord.default_fusion(), weights double precision[] DEFAULT lexichord.default_weights(), query_space text DEFAULT NULL::text) RETURNS TABLE(chunk_id bigint, document_id bigint, rank bigint, score double precision)
    LANGUAGE plpgsql STABLE ROWS 20
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
declare
    scope bigint[];
begin
    perform lexichord.check_search(query, query_vector, query_space, feedback_documents, depth, fusion, weights);
    scope := lexichord.scope_documents(datasets, documents, uri_prefix, filter);
    return query
    select b.chunk_id, b.document_id, row_number() over (order by b.score desc, b.chunk_id), b.score
    from (select distinct on (f.document_id) f.*
          from lexichord.fuse_terms(lexichord.query_lexemes(query, scope), query_vector, depth, scope, fusion, weights) as f
          order by f.document_id, f.score desc, f.chunk_id) as b
    order by b.score desc, b.chunk_id
    limit feedback_documents;
end $$;

CREATE FUNCTION lexichord.feedback_terms(query text, chunks bigint[], terms integer DEFAULT 30, original_weight double precision DEFAULT 0.15) RETURNS TABLE(lexeme text, weight double precision, times integer)
    LANGUAGE plpgsql STABLE ROWS 50
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET jit TO 'off'
    AS $$
declare
    of_chunks bigint[] := array(select distinct c.document_id from chunk c where c.id = any(chunks));
begin
    if terms is null or terms < 1 or original_weight is null or original_weight not between 0 and 1 then
        raise exception 'terms must be at least 1, original_weight between 0 and 1' using errcode = 'invalid_parameter_value';
    end if;
    return query
    with seen as (
        select u.lexeme, sum(cardinality(u.positions)::float8 / c.token_count) as share
        from chunk c, unnest(c.lexemes) as u
        where c.id = any(chunks)
        group by u.lexeme
    ), weighed as (
        select s.lexeme, s.share * ln(1 + (n.chunk_count - t.df + 0.5::float8) / (t.df + 0.5::float8)) as weight
        from seen s join term_statistics t on t.lexeme = s.lexeme collate "C", corpus_statistics n
        order by weight desc, s.lexeme collate "C"
        limit terms
    ), model as (
        select w.lexeme, (1 - original_weight) * w.weight / sum(w.weight) over () as weight from weighed w
        union all
        select q.lexeme, original_weight * cardinality(q.positions) / sum(cardinality(q.positions)) over ()
        from unnest(lexichord.query_lexemes(query, of_chunks)) as q
    )
    select m.lexeme, sum(m.weight), least(greatest(round(200 * sum(m.weight)), 1), 255)::integer
    from model m
    group by m.lexeme
    order by sum(m.weight) desc, m.lexeme collate "C";
end $$;

CREATE FUNCTION lexichord.feedback_vector(query_vector public.halfvec, chunks bigint[], original_weight double precision DEFAULT 0.6) RETURNS public.halfvec
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
declare
    mean public.vector;  -- halfvec's arithmetic fails on underflow
    original public.vector;
    lengths integer[];
begin
    if original_weight is null or original_weight not between 0 and 1 then
        raise exception 'original_weight must be between 0 and 1' using errcode = 'invalid_parameter_value';
    end if;
    select public.l2_normalize(public.avg(public.l2_normalize(c.embedding::public.vector)))
    into mean from chunk c where c.id = any(chunks);
    if mean is null or query_vector is null then
        return coalesce(mean::public.halfvec, query_vector);
    end if;
    original := public.l2_normalize(query_vector::public.vector);
    lengths := array[public.vector_dims(mean)];
    return public.l2_normalize(
        (original operator(public.*) array_fill(original_weight, lengths)::public.vector)
        operator(public.+)
        (mean operator(public.*) array_fill(1 - original_weight, lengths)::public.vector)
    )::public.halfvec;
end $$;

CREATE FUNCTION lexichord.file_surrogates(query text, query_vector public.halfvec, files bigint[], chunks integer DEFAULT 2, characters integer DEFAULT 800, query_space text DEFAULT NULL::text) RETURNS TABLE(document_id bigint, surrogate text)
    LANGUAGE plpgsql STABLE ROWS 10
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
begin
    if query_vector is not null then
        perform lexichord.check_space(query_space);
    end if;
    return query
    with best as (
        select f.chunk_id, f.document_id, row_number() over (partition by f.document_id order by f.score desc, f.chunk_id) as place
        from unnest(files) as one (id),
             lexichord.fuse_terms(lexichord.query_lexemes(query, files), query_vector, lexichord.default_depth(), array[one.id],
                 lexichord.default_fusion(), lexichord.default_weights()) as f
    ), joined as (
        select b.document_id, string_agg(c.content, E'\n' order by c.ordinal) as content
        from best b join chunk c on c.id = b.chunk_id
        where b.place <= chunks
        group by b.document_id
    )
    select d.id, left(concat_ws(E'\n', nullif(d.title, ''), coalesce(j.content, d.text)), characters)
    from unnest(files) with ordinality as wanted (id, place)
    join document d on d.id = wanted.id
    left join joined j on j.document_id = d.id
    order by wanted.place;
end $$;

CREATE FUNCTION lexichord.filter_compares(had jsonb, operator text, wanted jsonb) RETURNS boolean
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    difference integer;
begin
    if had is null or jsonb_typeof(had) <> jsonb_typeof(wanted) then
        return false;
    end if;
    if operator in ('before', 'after') then
        if not pg_input_is_valid(had #>> '{}', 'timestamptz') then
            return false;
        end if;
        return case operator when 'before' then (had #>> '{}')::timestamptz < (wanted #>> '{}')::timestamptz
                             else (had #>> '{}')::timestamptz > (wanted #>> '{}')::timestamptz end;
    elsif jsonb_typeof(had) = 'number' then
        difference := sign(had::numeric - wanted::numeric);
    else
        difference := case when had #>> '{}' = wanted #>> '{}' then 0
                           when (had #>> '{}') collate "C" < (wanted #>> '{}') collate "C" then -1 else 1 end;
    end if;
    return case operator
        when 'gt' then difference > 0 when 'gte' then difference >= 0
        when 'lt' then difference < 0 when 'lte' then difference <= 0
    end;
end $$;

CREATE FUNCTION lexichord.filter_contains(had jsonb, wanted text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select coalesce(case jsonb_typeof(had)
        when 'string' then strpos(had #>> '{}', wanted) > 0
        when 'array' then had @> jsonb_build_array(wanted)
    end, false)
$$;

CREATE FUNCTION lexichord.filter_form(filter jsonb) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    keys text[];
begin
    if jsonb_typeof(filter) = 'object' then
        select array_agg(k order by k) into keys from jsonb_object_keys(filter) as k;
        if keys <@ '{key,op,value}' and keys @> '{key,op}' and jsonb_typeof(filter -> 'key') = 'string' then
            return 'condition';
        elsif keys in ('{and}', '{or}') and jsonb_typeof(filter -> keys[1]) = 'array' then
            return keys[1];
        end if;
        return 'containment';
    end if;
    raise exception 'filter: % is no filter', coalesce(filter::text, 'null')
        using errcode = 'invalid_parameter_value',
              hint = 'Write {"key": value}, {"key": …, "op": …, "value": …}, {"and": […]} or {"or": […]}.';
end $$;

CREATE FUNCTION lexichord.filter_matches(metadata jsonb, filter jsonb) RETURNS boolean
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    form text := lexichord.filter_form(filter);
    had jsonb := metadata -> (filter ->> 'key');
    wanted jsonb := filter -> 'value';
    operator text;
begin
    case form
        when 'containment' then return metadata @> filter;
        when 'and' then return coalesce((select bool_and(lexichord.filter_matches(metadata, f)) from jsonb_array_elements(filter -> 'and') as f), true);
        when 'or' then return coalesce((select bool_or(lexichord.filter_matches(metadata, f)) from jsonb_array_elements(filter -> 'or') as f), false);
        else null;
    end case;
    operator := lexichord.filter_operator(filter ->> 'op');
    return case operator
        when 'eq' then coalesce(had = wanted, false)
        when 'ne' then not coalesce(had = wanted, false)
        when 'in' then coalesce(exists (select from jsonb_array_elements(wanted) as w where w = had), false)
        when 'nin' then not coalesce(exists (select from jsonb_array_elements(wanted) as w where w = had), false)
        when 'contains' then lexichord.filter_contains(had, wanted #>> '{}')
        when 'not contains' then not lexichord.filter_contains(had, wanted #>> '{}')
        when 'start with' then coalesce(jsonb_typeof(had) = 'string' and starts_with(had #>> '{}', wanted #>> '{}'), false)
        when 'end with' then coalesce(jsonb_typeof(had) = 'string' and right(had #>> '{}', length(wanted #>> '{}')) = wanted #>> '{}', false)
        when 'empty' then coalesce(had in ('null', '""', '[]', '{}'), true)
        when 'not empty' then not coalesce(had in ('null', '""', '[]', '{}'), true)
        else lexichord.filter_compares(had, operator, wanted)
    end;
end $$;

CREATE FUNCTION lexichord.filter_operator(name text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    operator text := case name
        when '=' then 'eq' when 'is' then 'eq' when '≠' then 'ne' when 'is not' then 'ne'
        when '>' then 'gt' when '≥' then 'gte' when '<' then 'lt' when '≤' then 'lte'
        when 'not in' then 'nin' else name end;
begin
    if operator is null or operator not in (
        'eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'nin', 'contains', 'not contains',
        'start with', 'end with', 'empty', 'not empty', 'before', 'after') then
        raise exception 'filter: unknown operator %', coalesce(quote_literal(name), 'null')
            using errcode = 'invalid_parameter_value',
                  hint = 'Operators: eq ne gt gte lt lte in nin, contains, not contains, start with, end with, empty, not empty, before, after.';
    end if;
    return operator;
end $$;

CREATE FUNCTION lexichord.find_api_key(digest bytea) RETURNS TABLE(key_id bigint, digest bytea, datasets text[], writes boolean)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    select k.id, k.digest, k.datasets, k.writes from api_key k
    where k.digest = find_api_key.digest and k.revoked_at is null
$$;

CREATE FUNCTION lexichord.find_definitions(terms text[], datasets text[] DEFAULT NULL::text[], documents bigint[] DEFAULT NULL::bigint[], uri_prefix text DEFAULT NULL::text, filter jsonb DEFAULT NULL::jsonb) RETURNS TABLE(term text, chunk_id bigint, before text, after text)
    LANGUAGE plpgsql STABLE ROWS 10
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $_$
declare
    scope bigint[] := lexichord.scope_documents(datasets, documents, uri_prefix, filter);
begin
    return query
    select w.term, f.chunk_id, right(m[1], 120), left(m[2], 200)
    from unnest(terms) with ordinality as w (term, place),
    lateral (
        select k.chunk_id, k.rank from lexichord.keyword_candidates(w.term, 20, scope) as k
        -- A term of an unknown word is defined nowhere.
        where exists (select from unnest(lexichord.text_configs(scope)) as t (config)
                      where not exists (select from unnest(tsvector_to_array(lexichord.lexemes(w.term, t.config))) as l (lexeme)
                                        where not exists (select from term_statistics t where t.lexeme = l.lexeme collate "C" and t.df > 0)))
    ) as f
    join chunk c on c.id = f.chunk_id,
    lateral regexp_matches(c.content,
        '^(.*?)[("“„«‘]' || regexp_replace(w.term, '([^[:alnum:][:space:]])', '\\\1', 'g') || '[)"”“»’](.*)$', 'i') as m
    order by w.place, f.rank, f.chunk_id;
end $_$;

CREATE FUNCTION lexichord.find_documents(reference text, document bigint DEFAULT NULL::bigint) RETURNS TABLE(document_id bigint, dataset text, uri text)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    select d.id, s.name, d.uri from document d join dataset s on s.id = d.dataset_id
    where d.id = document
       or document is null and (d.uri = reference or right(d.uri, length(reference) + 1) = '/' || reference)
    order by d.uri, d.id
$$;

CREATE FUNCTION lexichord.find_problems() RETURNS TABLE(problem text, remedy text)
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
begin
    return query
    select format('the extension %s was moved from schema %s to %s', m.extension, m.named_schema, m.present_schema),
           'run lexichord init'
    from lexichord.moved_extensions() m;
    if found then
        return;  -- what else there is cannot be looked at
    end if;
    return query
    select format('%s: %s', f.kind, f.amount),
           case when f.kind like 'wrong%' then 'select lexichord.recount();' else 'ingest these documents again' end
    from lexichord.count_faults() f where f.amount > 0
    union all
    select format('index %s %s', o.index_name, o.reason), 'select lexichord.build_indexes();' from lexichord.outgrown_indexes() o
    union all
    select format('%s %s: %s', e.extension, e.version, e.problem), e.remedy
    from lexichord.configuration() c, lexichord.extension_faults(c.engine) as e where e.severity = 'refuse'
    union all
    -- Whatever version is there now: damage stays until the index is built again. Sound indexes found .97 of 100k random
    -- vectors and .92 of 20k in 20 dense clumps, the hardest that were tried; damaged ones .04 to .8.
    select format('the vector index finds %s %% of what it holds, by a sample', round(100 * r.recall)), 'select lexichord.rebuild_indexes();'
    from lexichord.sampled_recall() as r (recall)
    where r.recall < .85 and to_regclass('lexichord_data.chunk_hnsw') is not null
    union all
    select format('index %s is not used', i.index_name), 'analyze lexichord_data.chunk;'
    from lexichord.index_use() i, corpus_statistics n where n.chunk_count > 10000 and i.plan is not null and not i.used
    union all
    select format('%s chunks have no vector', s.chunks_without_vector), 'ingest again with an embedder'
    from lexichord.database_status() s where s.chunks_without_vector > 0
    union all
    -- Whoever has more rights is not told to run a function that others can change.
    select g.problem || case when g.ours then '' else ', which a superuser can mend' end,
           case when g.ours then 'select lexichord.grant_reader();' else g.statement || ';' end
    from lexichord.reader_gaps() g
    union all
    select s.problem, s.statement || ';' from lexichord.schema_gaps() s;
end $$;

CREATE FUNCTION lexichord.finish_run(run_id bigint) RETURNS void
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    update run set finished_at = now() where id = run_id
$$;

CREATE FUNCTION lexichord.fold_statistics(from_changes bigint DEFAULT 0) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
begin
    if (select count(*) from (select from dataset_change limit from_changes) as c) < from_changes
       or current_setting('transaction_isolation') <> 'read committed'
       or not pg_try_advisory_xact_lock(hashtextextended('lexichord.fold_statistics', 0)) then
        return false;
    end if;
    with taken as (
        delete from dataset_change returning *
    ), change as (
        select t.dataset_id, sum(t.chunk_count) as chunks, sum(t.token_count) as tokens, sum(t.document_count) as documents,
               sum(t.card_token_count) as card_tokens
        from taken t group by t.dataset_id
    ), folded as (
        insert into dataset_count as d select c.* from change c
        on conflict (dataset_id) do update
        set chunk_count = d.chunk_count + excluded.chunk_count, token_count = d.token_count + excluded.token_count,
            document_count = d.document_count + excluded.document_count,
            card_token_count = d.card_token_count + excluded.card_token_count
    )
    update corpus n
    set chunk_count = n.chunk_count + c.chunks, token_count = n.token_count + c.tokens,
        document_count = n.document_count + c.documents, card_token_count = n.card_token_count + c.card_tokens
    from (select sum(c.chunks) as chunks, sum(c.tokens) as tokens, sum(c.documents) as documents,
                 sum(c.card_tokens) as card_tokens from change c) as c
    where c.chunks is not null;

    with taken as (
        delete from term_change returning *
    ), change as (
        select t.term_id, t.dataset_id, sum(t.df) as df from taken t group by 1, 2 having sum(t.df) <> 0
    ), folded as (
        insert into term_count as k select c.* from change c
        on conflict (term_id, dataset_id) do update set df = k.df + excluded.df
    )
    update term t set df = t.df + c.df
    from (select c.term_id, sum(c.df) as df from change c group by 1 having sum(c.df) <> 0) as c
    where t.id = c.term_id;
    return true;
end $$;

CREATE FUNCTION lexichord.forget_evaluations(older_than interval) RETURNS bigint
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    with gone as (
        delete from evaluation e where e.started_at <= now() - older_than returning e.id
    ), unused as (
        delete from evaluation_set s
        where not exists (select from evaluation e where e.set_id = s.id and e.id not in (select g.id from gone g))
    )
    select count(*) from gone
$$;

CREATE FUNCTION lexichord.forget_queries(older_than interval) RETURNS bigint
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    with gone as (delete from query q where q.asked_at <= now() - older_than returning q.id)
    select count(*) from gone
$$;

CREATE FUNCTION lexichord.fuse_terms(terms tsvector, query_vector public.halfvec, depth integer, scope bigint[], fusion text, weights double precision[], boost jsonb DEFAULT NULL::jsonb) RETURNS TABLE(chunk_id bigint, document_id bigint, score double precision, dense_score double precision, dense_rank bigint, keyword_score double precision, keyword_rank bigint, fused_score double precision)
    LANGUAGE plpgsql STABLE ROWS 200
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
declare
    boosted bigint[];
    by_words boolean := weights[2] > 0 and terms is not null;
    room bigint := case when scope is null then (select count(*) from (select from chunk limit depth) as c)
                   else (select count(*) from (select from chunk c where c.document_id = any(scope) limit depth) as c) end;
    vector public.halfvec := case when weights[1] > 0 then coalesce(query_vector, lexichord.term_centroid(terms, scope)) end;
begin
    perform lexichord.check_boost(boost);
    boosted := (select array_agg(key::bigint) from jsonb_each(boost) where scope is null or key::bigint = any(scope));
    if scope <@ boosted then
        boosted := null;  -- the lists of the scope hold its chunks already
    end if;
    return query
    with dense as materialized (
        select d.* from lexichord.dense_candidates(vector, depth, scope) as d where vector is not null
    ), keyword as materialized (
        select w.* from lexichord.term_candidates(terms, depth, scope) as w where by_words
    ), dense_scale as (
        select avg(d.score) as mean, nullif(stddev_pop(d.score), 0) as spread, min(d.score) as lowest from dense d
    ), keyword_scale as (
        select avg(w.score) as mean, nullif(stddev_pop(w.score), 0) as spread, min(w.score) as lowest
        from (select k.score from keyword k union all select 0 from generate_series(1, room - (select count(*) from keyword))) as w
    ), candidate as (
        select c.chunk_id, c.document_id, max(c.dense_score) as dense_score, max(c.dense_rank) as dense_rank,
               max(c.keyword_score) as keyword_score, max(c.keyword_rank) as keyword_rank
        from (
            select d.chunk_id, d.document_id, d.score as dense_score, d.rank as dense_rank,
                   null::double precision as keyword_score, null::bigint as keyword_rank from dense d
            union all
            select d.chunk_id, d.document_id, d.score, null, null, null
            from lexichord.dense_candidates(vector, depth, boosted) as d where vector is not null and boosted is not null
            union all
            select w.chunk_id, w.document_id, null, null, w.score, w.rank from keyword w
            union all
            select w.chunk_id, w.document_id, null, null, w.score, null
            from lexichord.term_candidates(terms, depth, boosted) as w where by_words and boosted is not null
        ) as c
        group by c.chunk_id, c.document_id
    ), fused as (
        select c.*, case fusion
            when 'rrf' then coalesce(weights[1] / (lexichord.rrf_constant() + c.dense_rank), 0)
                     + coalesce(weights[2] / (lexichord.rrf_constant() + c.keyword_rank), 0)
            else weights[1] * coalesce((coalesce(c.dense_score, d.lowest) - d.mean) / d.spread, 0)
               + weights[2] * coalesce((coalesce(c.keyword_score, w.lowest) - w.mean) / w.spread, 0)
            end as fused_score
        from candidate c, dense_scale d, keyword_scale w
    )
    select f.chunk_id, f.document_id, f.fused_score + coalesce((boost ->> f.document_id::text)::double precision, 0),
           f.dense_score, f.dense_rank, f.keyword_score, f.keyword_rank, f.fused_score
    from fused f
    order by 3 desc, 1;
end $$;

CREATE FUNCTION lexichord.grant_reader() RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET client_min_messages TO 'error'
    AS $$
declare
    each text;
begin
    for pass in 1..2 loop  -- the role is granted to once it is there, and again what too much was taken from
        for each in select g.statement from lexichord.reader_gaps() g loop
            begin
                execute each;
            exception when others then
                null;  -- the caller may not do it, or another database has made the role by now: find_problems tells
            end;
        end loop;
        exit when not found;
    end loop;
end $$;

CREATE FUNCTION lexichord.hold_reembed() RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    perform set_config('client_connection_check_interval', '1s', false);
    return pg_try_advisory_lock(hashtextextended('lexichord reembed', 0));
end $$;

CREATE FUNCTION lexichord.hold_writers() RETURNS void
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    select pg_advisory_xact_lock(hashtextextended('lexichord.write', 0))
$$;

CREATE FUNCTION lexichord.hybrid_search(query text, query_vector public.halfvec DEFAULT NULL::public.halfvec, k integer DEFAULT lexichord.default_k(), depth integer DEFAULT lexichord.default_depth(), datasets text[] DEFAULT NULL::text[], documents bigint[] DEFAULT NULL::bigint[], uri_prefix text DEFAULT NULL::text, filter jsonb DEFAULT NULL::jsonb, fusion text DEFAULT lexichord.default_fusion(), weights double precision[] DEFAULT lexichord.default_weights(), boost jsonb DEFAULT NULL::jsonb, query_space text DEFAULT NULL::text) RETURNS SETOF lexichord.hit
    LANGUAGE plpgsql STABLE ROWS 10
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
declare
    scope bigint[];
begin
    perform lexichord.check_search(query, query_vector, query_space, k, depth, fusion, weights);
    scope := lexichord.scope_documents(datasets, documents, uri_prefix, filter);
    return query
    select c.id, c.document_id, s.name, d.uri, d.title, c.heading, c.char_start, c.char_end, c.page, c.content, c.context,
           f.score, f.dense_score, f.dense_rank, f.keyword_score, f.keyword_rank, f.fused_score
    from (select * from lexichord.fuse_terms(lexichord.query_lexemes(query, scope), query_vector, depth, scope, fusion, weights, boost) as f
          order by f.score desc, f.chunk_id limit k) as f
    join chunk c on c.id = f.chunk_id
    join document d on d.id = c.document_id
    join dataset s on s.id = c.dataset_id
    order by f.score desc, f.chunk_id;
end $$;

CREATE FUNCTION lexichord.id_secret() RETURNS uuid
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    select c.id_secret from configuration c
$$;

CREATE FUNCTION lexichord.index_use() RETURNS TABLE(index_name text, used boolean, plan text)
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    SET enable_seqscan TO 'on'
    SET enable_sort TO 'on'
    AS $_$
declare
    sample text := (select quote_literal(c.embedding) || '::public.halfvec' from chunk c where c.embedding is not null limit 1);
    each record;
    before jsonb;
    line text;
begin
    for each in
        select v.index_name, replace(replace(lexichord.dense_statement(false), '$1', sample), '$2', lexichord.default_depth()::text) as statement,
               v.settings
        from lexichord.vector_index('embedding') as v
        union all
        select k.index_name, k.statement, k.settings from lexichord.keyword_plan() as k
    loop
        index_name := each.index_name;
        plan := null;
        used := false;
        if to_regclass('lexichord_data.' || index_name) is not null and each.statement is not null then
            before := (select jsonb_object_agg(s.key, coalesce(current_setting(s.key, true), '')) from jsonb_each_text(each.settings) as s);
            perform set_config(s.key, s.value, true) from jsonb_each_text(each.settings) as s;
            for line in execute 'explain ' || each.statement loop
                used := used or line ~ ('\y' || index_name || '\y');  -- a bitmap scan says it in a line of its own
                plan := coalesce(plan, substring(line from '[A-Z][a-z ]+Scan.* on (?:chunk|keyword|posting|keyword_part_\d+)\y'));
            end loop;
            perform pg_catalog.set_config(s.key, s.value, true) from pg_catalog.jsonb_each_text(before) as s;
        end if;
        return next;
    end loop;
end $_$;

CREATE FUNCTION lexichord.is_narrow(documents bigint[]) RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select count(*) <= 3000
    from (select from lexichord_data.chunk c where c.document_id = any(documents) limit 3001) as counted
$$;

CREATE FUNCTION lexichord.is_unchanged(document bigint, updated_at timestamp with time zone) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
begin
    perform lexichord_data.join_writers();
    perform from document d where d.id = is_unchanged.document and d.updated_at = is_unchanged.updated_at for no key update;
    return found;
end $$;

CREATE FUNCTION lexichord.keep_contexts(dataset text, uri text, keys text[], contexts text[]) RETURNS void
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    insert into dataset (name) values (keep_contexts.dataset) on conflict (name) do nothing;
    insert into chunk_context (key, dataset_id, uri, context)
    select k.key, s.id, keep_contexts.uri, k.context
    from dataset s, unnest(keys, contexts) as k (key, context)
    where s.name = keep_contexts.dataset
    on conflict do nothing;
$$;

CREATE FUNCTION lexichord.kept_vectors(documents bigint[], recipe text) RETURNS TABLE(key text, embedding public.halfvec)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    select distinct on (k.key) k.key, c.embedding
    from document d join chunk c on c.document_id = d.id,
         lexichord.vector_key(c.content, c.context, c.metadata) as k (key)
    where d.id = any(documents) and c.embedding is not null
        and regexp_replace(d.recipe, ' (llm|metadata|ocr)=\S+', '', 'g')
            = regexp_replace(kept_vectors.recipe, ' (llm|metadata|ocr)=\S+', '', 'g')
    order by k.key, array_position(documents, d.id), c.ordinal
$$;

CREATE FUNCTION lexichord.keyword_candidates(query text, depth integer DEFAULT lexichord.default_depth(), documents bigint[] DEFAULT NULL::bigint[]) RETURNS TABLE(chunk_id bigint, document_id bigint, rank bigint, score double precision)
    LANGUAGE plpgsql STABLE ROWS 100
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
begin
    return query select * from lexichord.term_candidates(lexichord.query_lexemes(query, documents), depth, documents);
end $$;

CREATE FUNCTION lexichord.keyword_index() RETURNS TABLE(index_name text, definition text)
    LANGUAGE sql STABLE ROWS 1
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    select null::text, null::text where false
$$;

CREATE FUNCTION lexichord.keyword_plan() RETURNS TABLE(index_name text, statement text, settings jsonb)
    LANGUAGE sql STABLE ROWS 1
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    select coalesce(format('keyword_part_%s_vector_idx', s.number), 'keyword'),
           lexichord.segment_statement(s.number, (select format('{%s:1}', t.id) from term t order by t.df desc limit 1), lexichord.default_depth()),
           '{"enable_sort": "off", "bm25_catalog.enable_index": "on", "search_path": "pg_catalog, bm25_catalog, pg_temp"}'::jsonb
    from (select max(s.number) as number from keyword_segment s where not s.superseded) as s
$$;

CREATE FUNCTION lexichord.keyword_proposals(terms tsvector, depth integer, documents bigint[] DEFAULT NULL::bigint[]) RETURNS bigint[]
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
declare
    segments integer[] := array(select s.number from keyword_segment s where not s.superseded);
    proposals bigint[];
begin
    if segments <> '{}' then
        proposals := lexichord.segment_proposals(segments, terms, depth, documents);
    end if;
    return case when proposals is not null then proposals || array(select t.chunk_id from keyword_tail t) end;
exception when undefined_table then
    return null;  -- a segment of this snapshot was merged and dropped meanwhile
end $$;

CREATE FUNCTION lexichord.keyword_text(input text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
    plain text := regexp_replace(regexp_replace(input,
            '(?<=[[:digit:]]),(?=[[:digit:]]{3}(?![[:digit:]]))', '', 'g'),
            '([[:upper:]]{2})s(?![[:alnum:]_])', '\1', 'g');
    -- A Thai vowel above or below and a tone mark belong to the letter before them.
    letter constant text :=
        '[\u3005\u3007\u3041-\u3096\u309D-\u309F\u30A1-\u30FA\u30FC-\u30FF\u3105-\u312F\u31F0-\u31FF\u3400-\u4DBF\u4E00-\u9FFF'
        '\uAC00-\uD7A3\uF900-\uFAFF\uFF66-\uFF9F\U00020000-\U0003FFFF\u0E01-\u0E30\u0E32\u0E33\u0E40-\u0E46]'
        '[\u0E31\u0E34-\u0E3A\u0E47-\u0E4E]*';
    words text;
    match text[];
begin
    -- Each letter is doubled with a blank between, which leaves the pairs, and the ends go: of abc's "a ab bc c" "ab bc".
    if octet_length(plain) > length(plain) and plain ~ letter then
        plain := regexp_replace(translate(plain, E'\x01\x02', '  '), '((?:' || letter || ')+)', E'\x01\\1\x02', 'g');
        plain := regexp_replace(plain, '(' || letter || ')', '\1 \1', 'g');
        plain := regexp_replace(plain, format(E'\x01(%1$s) %1$s\x02|\x01%1$s | %1$s\x02', letter), ' \1 ', 'g');
    end if;
    -- Blanks and line ends stay as they are: replacing them, too, took half of this function's time.
    words := regexp_replace(regexp_replace(plain,
            '([[:lower:][:digit:]])([[:upper:]])|([[:upper:]])([[:upper:]][[:lower:]])', '\1\3 \2\4', 'g'),
            '(?<![[:digit:]])\.|\.(?![[:digit:]])|[^[:alnum:]\u0E31\u0E34-\u0E3A\u0E47-\u0E4E. \n]+', ' ', 'g');
    -- A loop is a query, even over nothing; a look whether there is something takes a fifth of it.
    if plain ~ '[[:lower:][:digit:]][[:upper:]]|[[:upper:]]{2}[[:lower:]]|[[:alnum:]]_+[[:alnum:]]' then
        for match in select regexp_matches(plain,
                '([[:alnum:]_]*(?:[[:lower:][:digit:]][[:upper:]]|[[:upper:]]{2}[[:lower:]]|[[:alnum:]]_+[[:alnum:]])[[:alnum:]_]*)',
                'g') loop
            words := words || ' ' || replace(match[1], '_', '');
        end loop;
    end if;
    if plain ~ '[[:digit:]]\.[[:digit:]]' then
        for match in select regexp_matches(plain, '([[:digit:]]+(?:\.[[:digit:]]+)+)', 'g') loop
            words := words || ' ' || replace(match[1], '.', ' ');
        end loop;
    end if;
    return lower(words);
end $_$;

CREATE FUNCTION lexichord.keyword_weights(terms tsvector) RETURNS TABLE(term_id integer, weight double precision)
    LANGUAGE sql STABLE ROWS 10
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET jit TO 'off'
    AS $$
    select t.id, cardinality(q.positions) * ln(1 + (n.chunk_count - t.df + 0.5::float8) / (t.df + 0.5::float8))
    from corpus_statistics n, unnest(terms) as q join term_statistics t on t.lexeme = q.lexeme collate "C"
    where t.df > 0
$$;

CREATE FUNCTION lexichord.known_contexts(keys text[]) RETURNS TABLE(key text, context text)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    select distinct on (c.key) c.key, c.context
    from chunk_context c where c.key = any(keys) order by c.key, c.made_at, c.dataset_id, c.uri
$$;

CREATE FUNCTION lexichord.known_faults() RETURNS TABLE(extension text, engines text[], first_version text, last_version text, problem text, mended_in text, severity text)
    LANGUAGE sql IMMUTABLE ROWS 12 PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    values
    ('vector', '{plain,textsearch}'::text[], null, '0.7.4', 'filtered searches end before they have found enough', '0.8.0', 'refuse'),
    ('vector', '{plain,textsearch}', '0.6.0', '0.8.1', 'a parallel build of an HNSW index overflows a buffer', '0.8.2', 'warn'),
    ('vector', '{plain,textsearch}', '0.5.0', '0.8.2', 'vacuum may damage an HNSW index, so that searches miss chunks', '0.8.3', 'warn'),
    ('vector', '{plain,textsearch}', '0.8.3', '0.8.3', 'vacuum may fail with "hnsw graph not repaired"', '0.8.4', 'warn'),
    ('pg_textsearch', '{textsearch}', '0.6.1', '0.6.1', 'searches lose hits after the second ingest', '1.4.0', 'refuse'),
    ('pg_textsearch', '{textsearch}', null, '1.3.1', 'scores are shown to roles that may not read the table', '1.4.0', 'refuse'),
    ('pg_textsearch', '{textsearch}', '0.5.1', '1.3.0', 'searches amid writes may return a row twice', '1.3.1', 'refuse'),
    ('pg_textsearch', '{textsearch}', '0.3.0', '1.1.0', 'questions of seven or more words may never end', '1.2.0', 'refuse'),
    ('pg_textsearch', '{textsearch}', '0.3.0', '1.1.0', 'deep searches score some rows too low', '1.2.0', 'refuse'),
    ('pg_textsearch', '{textsearch}', null, '1.1.0', 'the index does not reach standbys', '1.2.0', 'refuse'),
    ('vchord_bm25', '{vectorchord}', '0.3.0', null, 'rows that came after the index was built are read whole, and filtered last', null, 'warn'),
    ('vchord_bm25', '{vectorchord}', '0.3.0', null, 'a crash amid writes may damage the index, until select lexichord.rebuild_indexes();', null, 'warn')
$$;

CREATE FUNCTION lexichord.lexemes(input text, text_config regconfig DEFAULT NULL::regconfig) RETURNS tsvector
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return to_tsvector(coalesce(text_config, (select c.text_config from lexichord_data.configuration c)), lexichord.keyword_text(input));
end $$;

CREATE FUNCTION lexichord.link_documents(words text[], depth integer DEFAULT 25, datasets text[] DEFAULT NULL::text[], documents bigint[] DEFAULT NULL::bigint[], uri_prefix text DEFAULT NULL::text, filter jsonb DEFAULT NULL::jsonb) RETURNS TABLE(document_id bigint, dataset text, uri text, title text, domain text, word integer, in_title boolean, in_file boolean, initials boolean, rare boolean, score double precision, title_terms integer, file_terms integer)
    LANGUAGE plpgsql STABLE ROWS 200
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $_$
declare
    scope bigint[] := lexichord.scope_documents(datasets, documents, uri_prefix, filter);
begin
    if depth is null or depth not between 1 and 1000 or cardinality(words) > 1000 then
        raise exception 'depth must be between 1 and 1000, and there may be 1000 words at most'
            using errcode = 'invalid_parameter_value';
    end if;
    return query
    with term as materialized (
        select w.ord::integer as word, u.lexeme
        from unnest(words) with ordinality as w (text, ord), unnest(lexichord.query_lexemes(w.text, scope)) as u
    ), needed as (
        -- An identifier has its parts and its whole as lexemes: most of them, in one language, will do.
        select w.ord::integer as word, min(length(lexichord.lexemes(w.text, c.config))) / 2 + 1 as least
        from unnest(words) with ordinality as w (text, ord), unnest(lexichord.text_configs(scope)) as c (config)
        group by w.ord
    ), abbreviation as (
        select w.ord::integer as word, '\m' || regexp_replace(left(w.text, -1), '(.)', '\1[[:alnum:]]*[^[:alnum:]]+', 'g')
                                            || right(w.text, 1) as pattern
        from (select s.ord, substring(s.text from '^([[:upper:]]{3,6})s?$') as text
              from unnest(words) with ordinality as s (text, ord)) as w where w.text is not null
    ), by_initials as materialized (
        select a.word, d.id from abbreviation a join document d on d.title ~* a.pattern
        where scope is null or d.id = any(scope)
    ), by_card as materialized (
        select c.document_id as id, c.score from lexichord.card_candidates(array_to_string(words, ' '), depth, scope) as c
    ), candidate as (
        select c.id, c.score from by_card c
        union all
        select * from (select distinct i.id, 0::float8 from by_initials i where i.id not in (select c.id from by_card c)
                       order by i.id limit depth) as more
    ), named as materialized (
        select c.id, c.score, l.title, l.file,
               (select count(*)::integer from unnest(l.title) as u where u ~ '[^[:digit:]]') as title_terms,
               (select count(*)::integer from unnest(l.file) as u where u ~ '[^[:digit:]]') as file_terms
        from candidate c
        join document d on d.id = c.id
        cross join lateral (
            select tsvector_to_array(lexichord.lexemes(d.title, d.text_config)) as title,
                   tsvector_to_array(lexichord.lexemes(regexp_replace(
                       regexp_replace(d.uri, '^.*/|\.[[:alnum:]]{1,8}$', '', 'g'), '%[[:xdigit:]]{2}', ' ', 'g'), d.text_config)) as file
            offset 0) as l
    ), held as (
        select t.lexeme, count(c.document_id) as cards
        from (select distinct term.lexeme from term) as t left join card_term c on c.lexeme = t.lexeme collate "C" group by t.lexeme
    ), matched as (
        select n.id, t.word,
               count(*) filter (where t.lexeme = any(n.title)) >= max(e.least) as in_title,
               count(*) filter (where t.lexeme = any(n.file)) >= max(e.least) as in_file,
               count(c.document_id) >= max(e.least) as in_card, false as initials, min(h.cards) as cards
        from named n cross join term t join needed e on e.word = t.word join held h on h.lexeme = t.lexeme
        -- "offset 0" keeps it a look-up by key: the planner would read the whole table.
        left join lateral (select c.document_id from card_term c
                           where c.document_id = n.id and c.lexeme = t.lexeme collate "C" offset 0) as c on true
        group by n.id, t.word
        union all
        select i.id, i.word, false, false, false, true, count(*) over (partition by i.word)
        from by_initials i join named n on n.id = i.id
    )
    select m.id, s.name, d.uri, d.title, coalesce(d.metadata ->> 'domain', s.name), m.word, bool_or(m.in_title), bool_or(m.in_file),
           bool_or(m.initials), min(m.cards) <= greatest(3, max(o.document_count) / 50), n.score, n.title_terms, n.file_terms
    from matched m join named n on n.id = m.id join document d on d.id = m.id join dataset s on s.id = d.dataset_id, corpus_statistics o
    where m.in_title or m.in_file or m.in_card or m.initials
    group by m.id, s.name, d.uri, d.title, d.metadata, m.word, n.score, n.title_terms, n.file_terms
    order by n.score desc, m.id, m.word;
end $_$;

CREATE FUNCTION lexichord.list_api_keys() RETURNS TABLE(key_id bigint, name text, datasets text[], writes boolean, created_at timestamp with time zone, revoked_at timestamp with time zone)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    select k.id, k.name, k.datasets, k.writes, k.created_at, k.revoked_at from api_key k order by k.id
$$;

CREATE FUNCTION lexichord.list_chunks(document bigint) RETURNS TABLE(chunk_id bigint, ordinal integer, heading text, char_start integer, char_end integer, page integer, content text, context text, keyword_context text, metadata jsonb, has_vector boolean)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    select c.id, c.ordinal, c.heading, c.char_start, c.char_end, c.page, c.content, c.context, c.keyword_context, c.metadata,
           c.embedding is not null
    from chunk c where c.document_id = document order by c.ordinal
$$;

CREATE FUNCTION lexichord.list_datasets() RETURNS TABLE(dataset text, documents bigint, chunks bigint)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    select s.name,
           (select count(*) from document d where d.dataset_id = s.id),
           (select count(*) from document d join chunk c on c.document_id = d.id where d.dataset_id = s.id)
    from dataset s order by s.name
$$;

CREATE FUNCTION lexichord.list_documents(datasets text[] DEFAULT NULL::text[], documents bigint[] DEFAULT NULL::bigint[], uri_prefix text DEFAULT NULL::text, filter jsonb DEFAULT NULL::jsonb, page_size bigint DEFAULT NULL::bigint, page_offset bigint DEFAULT 0) RETURNS TABLE(document_id bigint, dataset text, uri text, title text, media_type text, characters integer, chunks bigint, metadata jsonb, updated_at timestamp with time zone)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    with scope as materialized (select lexichord.scope_documents(datasets, documents, uri_prefix, filter) as ids),
    page as materialized (
        select d.id, s.name, d.uri
        from document d join dataset s on s.id = d.dataset_id
        where (select ids is null from scope) or d.id in (select unnest(ids) from scope) -- any(ids) is not hashed
        order by s.name, d.uri
        limit lexichord.check_count('page_size', page_size) offset lexichord.check_count('page_offset', page_offset)
    )
    select d.id, page.name, d.uri, d.title, d.media_type, length(d.text),
           (select count(*) from chunk c where c.document_id = d.id), d.metadata, d.updated_at
    from page join document d on d.id = page.id
    order by page.name, page.uri
$$;

CREATE FUNCTION lexichord.list_evaluations(latest integer DEFAULT 20) RETURNS TABLE(evaluation_id bigint, set_name text, strategy text, started_at timestamp with time zone, queries bigint, failed bigint, p50_ms double precision, p95_ms double precision, qps jsonb, means jsonb, ks integer[], settings jsonb, version text)
    LANGUAGE sql STABLE ROWS 20
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    select e.id, s.name, e.strategy, e.started_at, r.queries, r.failed, r.p50, r.p95, e.qps, m.means,
           e.ks, e.settings, e.version
    from (select * from evaluation order by id desc limit lexichord.check_count('latest', latest)) as e
    join evaluation_set s on s.id = e.set_id
    cross join lateral (
        select count(*) as queries, count(o.error) as failed,
               percentile_cont(0.5) within group (order by o.ms) filter (where o.error is null) as p50,
               percentile_cont(0.95) within group (order by o.ms) filter (where o.error is null) as p95
        from evaluation_result o where o.evaluation_id = e.id
    ) as r
    cross join lateral (
        select coalesce(jsonb_object_agg(v.name, v.mean) filter (where v.mean is not null), '{}') as means
        from (select n.name, avg(n.value::double precision) as mean
              from evaluation_result o, jsonb_each_text(o.metrics) as n (name, value)
              where o.evaluation_id = e.id
              group by n.name) as v
    ) as m
    order by e.id desc
$$;

CREATE FUNCTION lexichord.list_keys() RETURNS TABLE(key text, documents bigint)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    select k, count(*) from document d, jsonb_object_keys(d.metadata) as k group by k order by k
$$;

CREATE FUNCTION lexichord.list_queries(latest integer DEFAULT 20) RETURNS TABLE(query_id bigint, asked_at timestamp with time zone, query text, hint text, hinted boolean, intent text, confidence double precision, abstained boolean, coverage double precision, hits bigint, ms double precision, counts jsonb, stages jsonb, datasets text[], narrowed boolean, space text, version text)
    LANGUAGE sql STABLE ROWS 20
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    select q.id, q.asked_at, q.text, q.hint, q.hinted, q.intent, q.confidence, q.abstained, q.coverage,
           (select count(*) from query_hit h where h.query_id = q.id),
           q.ms, q.counts, q.stages, q.datasets, q.narrowed, q.space, q.version
    from query q
    order by q.id desc
    limit lexichord.check_count('latest', latest)
$$;

CREATE FUNCTION lexichord.list_runs(latest integer DEFAULT 5, datasets text[] DEFAULT NULL::text[], runs bigint[] DEFAULT NULL::bigint[]) RETURNS TABLE(run_id bigint, dataset text, source text, state text, started_at timestamp with time zone, seen_at timestamp with time zone, finished_at timestamp with time zone, total bigint, done bigint, inserted bigint, replaced bigint, skipped bigint, failed bigint, deleted bigint, failures jsonb, unread jsonb)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    select r.id, r.dataset, r.source,
           case when r.finished_at is not null then 'finished'
                when r.seen_at < clock_timestamp() - interval '60 s' then 'stalled' else 'running' end,
           r.started_at, r.seen_at, r.finished_at, r.total, count(f) filter (where f.status <> 'unread'),
           count(*) filter (where f.status = 'inserted'), count(*) filter (where f.status = 'replaced'),
           count(*) filter (where f.status = 'skipped'), count(*) filter (where f.status = 'failed'),
           count(*) filter (where f.status = 'deleted'),
           coalesce(jsonb_object_agg(f.uri, f.reason) filter (where f.status = 'failed'), '{}'),
           (select coalesce(jsonb_object_agg(k.reason, k.files), '{}')
            from (select u.reason, count(*) as files from run_file u
                  where u.run_id = r.id and u.status = 'unread' group by u.reason) as k)
    from (
        select * from run
        where (datasets is null or dataset = any(datasets)) and (runs is null or id = any(runs))
        order by id desc limit lexichord.check_count('latest', latest)) as r left join run_file f on f.run_id = r.id
    group by r.id, r.dataset, r.source, r.started_at, r.seen_at, r.finished_at, r.total
    order by r.id desc
$$;

CREATE FUNCTION lexichord.make_indexes(anew boolean) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    SET client_min_messages TO 'warning'
    AS $$
declare
    outgrown boolean := anew or exists (select from lexichord.outgrown_indexes());
    each record;
begin
    if exists (select from lexichord.wanted_indexes() as w where anew or w.reason is not null) then
        perform lexichord.hold_writers();  -- before the table: else there are deadlocks
    end if;
    for each in select w.* from lexichord.wanted_indexes() as w where anew or w.reason is not null loop
        execute format('create index %I on %s', each.index_name || '_new', each.definition);
        execute format('drop index if exists %I', each.index_name);
        execute format('alter index %I rename to %I', each.index_name || '_new', each.index_name);
        insert into index_build (index_name, chunks, last_chunk)
        select each.index_name, n.chunk_count, (select coalesce(max(c.id), 0) from chunk c) from corpus_statistics n
        on conflict (index_name) do update set chunks = excluded.chunks, last_chunk = excluded.last_chunk;
    end loop;
    if anew then
        perform lexichord.unseal_keywords();
    end if;
    -- After the indexes: one that is built over rows just updated waits for the commit.
    perform lexichord.refresh_impacts(anew);
    perform lexichord.seal_keywords();
    perform lexichord.fold_statistics();  -- last: others may wait for the terms that it changes
    if outgrown then
        analyze chunk, term, keyword;
    end if;
    return outgrown;
end $$;

CREATE FUNCTION lexichord.most_dimensions() RETURNS integer
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select 16000
$$;

CREATE FUNCTION lexichord.moved_extensions() RETURNS TABLE(extension text, named_schema text, present_schema text)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select n.extension, n.named_schema, quote_ident(s.nspname)
    from lexichord.named_extensions() as n
    join pg_extension e on e.extname = n.extension
    join pg_namespace s on s.oid = e.extnamespace
    where quote_ident(s.nspname) <> n.named_schema
$$;

CREATE FUNCTION lexichord.named_extensions() RETURNS TABLE(extension text, named_schema text)
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    values ('vector', 'public'), ('vchord', 'public'), ('vchord_bm25', 'bm25_catalog')
$$;

CREATE FUNCTION lexichord.ordered_uuid(moment timestamp with time zone, number bigint) RETURNS uuid
    LANGUAGE sql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select (lpad(to_hex((extract(epoch from moment) * 1000)::bigint), 12, '0') || '70008' || lpad(to_hex(number), 15, '0'))::uuid
$$;

CREATE FUNCTION lexichord.outgrown_indexes() RETURNS TABLE(index_name text, reason text)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    select w.index_name, w.reason from lexichord.wanted_indexes() as w where w.reason is not null
    union all
    select u.index_name, u.reason from lexichord.unsealed_keywords() as u
$$;

CREATE FUNCTION lexichord.prepare_vechord(namespace text, datasets text[] DEFAULT NULL::text[]) RETURNS TABLE(dimension integer, finds_functions boolean)
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    SET client_min_messages TO 'warning'
    AS $$
declare
    scope bigint[] := lexichord.scope_documents(datasets);
    missing bigint;
    extension text;
begin
    if (select engine from configuration) <> 'vectorchord' then
        raise exception 'vechord needs the engine vectorchord, this database has another'
            using errcode = 'feature_not_supported', hint = 'Run lexichord copy into a database of that engine and export there.';
    end if;
    perform lexichord.refuse_vechord_rows(namespace);
    select count(*) into missing from chunk c where c.embedding is null and (scope is null or c.document_id = any(scope));
    if missing > 0 then
        raise exception '% chunks have no vector, and vechord''s tables want one', missing
            using errcode = 'invalid_parameter_value', hint = 'Ingest again with an embedder, or name datasets that have them.';
    end if;
    foreach extension in array array['vchord', 'vchord_bm25', 'pg_tokenizer'] loop
        begin
            execute format('create extension if not exists %I cascade', extension);
            if extension = 'pg_tokenizer' then
                perform tokenizer_catalog.list_preload_models(); -- any call: it refuses to load unless it is preloaded
            end if;
        exception when others then
            raise exception 'vechord needs the extension %: %', extension, rtrim(sqlerrm, '.')
                using errcode = 'feature_not_supported',
                      hint = format('Install it, name it in shared_preload_libraries, start the server anew and run: create extension %s;', extension);
        end;
    end loop;
    select s.dimension into dimension from embedding_space s;
    select s.reset_val ~ 'bm25_catalog' and s.reset_val ~ 'tokenizer_catalog' into finds_functions
    from pg_settings s where s.name = 'search_path';
    return next;
end $$;

CREATE FUNCTION lexichord.prune_documents(run_id bigint, uris text[]) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
declare
    gone bigint;
begin
    gone := lexichord.delete_documents((
        select array_agg(d.id) from run r join dataset s on s.name = r.dataset join document d on d.dataset_id = s.id
        where r.id = run_id and d.uri = any(uris)));
    perform lexichord.record_files(run_id, uris, 'deleted', 'the file is gone');
    update run set total = total + cardinality(uris) where id = run_id;
    return gone;
end $$;

CREATE FUNCTION lexichord.query_hits(query_id bigint) RETURNS TABLE(rank integer, chunk_id bigint, current_chunk_id bigint, dataset text, uri text, char_start integer, char_end integer, score double precision, scores jsonb, ranks jsonb)
    LANGUAGE sql STABLE ROWS 10
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    select h.rank, h.chunk_id, present.id, h.dataset, h.uri, h.char_start, h.char_end, h.score, h.scores, h.ranks
    from query_hit h
    left join lateral (
        select c.id
        from dataset s
        join document d on d.dataset_id = s.id and d.uri = h.uri
        join chunk c on c.document_id = d.id and c.char_start = h.char_start and c.char_end = h.char_end
        where s.name = h.dataset
        order by c.id <> h.chunk_id, c.ordinal
        limit 1
    ) as present on true
    where h.query_id = query_hits.query_id
    order by h.rank
$$;

CREATE FUNCTION lexichord.query_lexemes(query text, documents bigint[] DEFAULT NULL::bigint[]) RETURNS tsvector
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
declare
    configs regconfig[] := lexichord.text_configs(documents);
    own regconfig;
    telling text;
begin
    if cardinality(configs) = 1 then
        return lexichord.lexemes(query, configs[1]);
    end if;
    own := lexichord.question_config(query, documents);
    select string_agg(w.word, ' ' order by w.place) into telling
    from regexp_split_to_table(lexichord.keyword_text(query), '\s+') with ordinality as w (word, place)
    where to_tsvector(own, w.word) <> ''::tsvector;
    return (
        select lexichord.weighted_terms(coalesce(jsonb_object_agg(l.lexeme, l.times), '{}'))
        from (select u.lexeme, max(cardinality(u.positions)) as times
              from unnest(configs) as c (config), unnest(lexichord.lexemes(telling, c.config)) as u
              group by u.lexeme) as l);
end $$;

CREATE FUNCTION lexichord.question_config(question text, documents bigint[] DEFAULT NULL::bigint[]) RETURNS regconfig
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
declare
    configs regconfig[] := lexichord.text_configs(documents);
    telling text := left(question, 4000);
begin
    if cardinality(configs) = 1 then
        return configs[1];
    end if;
    select array_agg(l.config order by l.place) into configs
    from (select c.config, c.place, n.words, min(n.words) over () as least
          from unnest(configs) with ordinality as c (config, place),
          lateral (select coalesce(sum(cardinality(u.positions)), 0) as words
                   from unnest(lexichord.lexemes(telling, c.config)) as u) as n) as l
    where l.words = l.least;
    if cardinality(configs) = 1 then
        return configs[1];
    end if;
    return (
        select c.config
        from unnest(configs) with ordinality as c (config, place),
        lateral (select count(*) as known
                 from unnest(lexichord.lexemes(telling, c.config)) as u
                 join term_statistics t on t.lexeme = u.lexeme collate "C" where t.df > 0) as l
        order by l.known desc, c.place
        limit 1);
end $$;

CREATE FUNCTION lexichord.question_coverage(question text, chunk_ids bigint[]) RETURNS TABLE(lexeme text, words text[], times integer, df bigint, idf double precision, chunks bigint[])
    LANGUAGE sql STABLE ROWS 10
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    with own as materialized (
        select lexichord.question_config(question) as config
    ), word as (
        select w.word, tsvector_to_array(lexichord.lexemes(w.word, own.config)) as lexemes
        from own, (select distinct m[1] as word from regexp_matches(question, '[[:alnum:]_.]*[[:alnum:]]', 'g') as m) as w
    ), passage as materialized (
        select c.id, tsvector_to_array(lexichord.lexemes(c.content, own.config)) as lexemes from own, chunk c where c.id = any(chunk_ids)
    )
    select q.lexeme,
           array(select w.word from word w where q.lexeme = any(w.lexemes) order by w.word collate "C"),
           q.frequencies[1], q.df, q.idf,
           array(select p.id from passage p where q.lexeme = any(p.lexemes) order by p.id)
    from lexichord.weigh_terms(array[question]) as q
    order by q.lexeme collate "C"
$$;

CREATE FUNCTION lexichord.read_chunks(document bigint) RETURNS TABLE(ordinal integer, heading text, char_start integer, char_end integer, page integer, content text, context text, keyword_context text, metadata jsonb, embedding public.halfvec)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    select c.ordinal, c.heading, c.char_start, c.char_end, c.page, c.content, c.context, c.keyword_context, c.metadata,
           c.embedding
    from chunk c where c.document_id = document order by c.ordinal
$$;

CREATE FUNCTION lexichord.read_document(document bigint) RETURNS TABLE(dataset text, uri text, title text, media_type text, sha256 text, recipe text, content text, metadata text, text_config text)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    select s.name, d.uri, d.title, d.media_type, d.sha256, d.recipe, d.text, d.metadata::text, d.text_config::text
    from document d join dataset s on s.id = d.dataset_id
    where d.id = document
$$;

CREATE FUNCTION lexichord.read_hits(chunk_ids bigint[]) RETURNS SETOF lexichord.located_chunk
    LANGUAGE sql STABLE ROWS 10
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    select c.id, c.document_id, s.name, d.uri, d.title, c.heading, c.char_start, c.char_end, c.page, c.content, c.context
    from unnest(chunk_ids) with ordinality as wanted (id, place)
    join chunk c on c.id = wanted.id
    join document d on d.id = c.document_id
    join dataset s on s.id = c.dataset_id
    order by wanted.place
$$;

CREATE FUNCTION lexichord.read_spans(documents bigint[], starts integer[], ends integer[]) RETURNS TABLE(span_number integer, content text)
    LANGUAGE sql STABLE ROWS 100
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    select s.number::integer,
           case when s.first >= 0 and s.last >= s.first and s.last <= length(d.text)
                then substring(d.text from s.first + 1 for s.last - s.first) end
    from unnest(documents, starts, ends) with ordinality as s (document_id, first, last, number)
    left join document d on d.id = s.document_id
    order by s.number
$$;

CREATE FUNCTION lexichord.reader_gaps() RETURNS TABLE(problem text, statement text, ours boolean)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
    with wanted as (
        select r.*, to_regrole('lexichord_reader')::oid as role,
               (select c.relowner::regrole from pg_class c where c.oid = 'lexichord_data.chunk'::regclass) as writer,
               array['lexichord', 'lexichord_data']::regnamespace[]::oid[] as schemas
        from lexichord.reader_rights() r
    ), extension as (
        select e.oid, e.extnamespace from pg_extension e
        where e.extname in ('vector', 'pg_textsearch', 'vchord', 'vchord_bm25')
    ), routine as (
        select p.oid::regprocedure::text as name, p.pronamespace = any(w.schemas) as ours,
               p.pronamespace = any(w.schemas) and p.proname = any(w.functions) as reads,
               coalesce(bool_or(a.grantee = 0), false) as everybody, coalesce(bool_or(a.grantee = w.role), false) as reader
        from wanted w
        join pg_proc p on p.pronamespace = any(w.schemas) or p.proname = any(w.maintenance) and exists (
            select from pg_depend d join extension e on d.refobjid = e.oid
            where d.refclassid = 'pg_extension'::regclass and d.classid = 'pg_proc'::regclass and d.objid = p.oid)
        left join aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) as a on true
        group by p.oid, w.schemas, w.functions
    ), relation as (
        select c.oid::regclass::text as name, c.relname = any(w.tables) or c.relname ~ '^keyword_part_[0-9]+$' as reads,
               coalesce(bool_or(a.privilege_type = 'SELECT'), false) as selects,
               coalesce(bool_or(a.privilege_type <> 'SELECT'), false) as writes
        from wanted w
        join pg_class c on c.relnamespace = 'lexichord_data'::regnamespace and c.relkind in ('r', 'v', 'm', 'p', 'f', 'S')
        left join aclexplode(c.relacl) as a on a.grantee = w.role
        where w.role is not null
        group by c.oid, w.tables
    )
    select 'the role lexichord_reader is missing', 'create role lexichord_reader nologin', false
    from wanted w where w.role is null
    union all
    select format('lexichord_reader may not use schema %I', n.nspname),
           format('grant usage on schema %I to lexichord_reader', n.nspname), n.oid = any(w.schemas)
    from wanted w join pg_namespace n on n.oid = any(w.schemas) or n.oid in (select e.extnamespace from extension e)
    where not has_schema_privilege(w.role, n.oid, 'usage')
    union all
    select format('lexichord_reader may not call %s functions that read', count(*)),
           format('grant execute on routine %s to lexichord_reader', string_agg(r.name, ', ' order by r.name)), true
    from wanted w, routine r where w.role is not null and r.reads and not r.reader having count(*) > 0
    union all
    select format('%s functions that are none of a reader''s may be called by everybody or lexichord_reader', count(*)),
           format('revoke execute on routine %s from %s', string_agg(r.name, ', ' order by r.name),
                  concat_ws(', ', 'public', w.role::regrole)), true
    from wanted w, routine r where r.ours and not r.reads and (r.everybody or r.reader) group by w.role
    union all
    select format('%s maintenance functions of the extensions may be called by everybody', count(*)),
           format('revoke execute on routine %1$s from %2$s; grant execute on routine %1$s to %3$s',
                  string_agg(r.name, ', ' order by r.name), concat_ws(', ', 'public', w.role::regrole), w.writer), false
    from wanted w, routine r where not r.ours and (r.everybody or r.reader) group by w.role, w.writer
    union all
    select format('lexichord_reader may not read %s', string_agg(r.name, ', ' order by r.name)),
           format('grant select on table %s to lexichord_reader', string_agg(r.name, ', ' order by r.name)), true
    from relation r where r.reads and not r.selects having count(*) > 0
    union all
    select format('lexichord_reader may do too much with %s', string_agg(r.name, ', ' order by r.name)),
           format('revoke all on table %s from lexichord_reader', string_agg(r.name, ', ' order by r.name)), true
    from relation r where r.writes or r.selects and not r.reads having count(*) > 0
$_$;

CREATE FUNCTION lexichord.reader_rights(OUT functions text[], OUT tables text[], OUT maintenance text[]) RETURNS record
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select
    -- EXECUTE, by name, in both schemas
    array[
        'hybrid_search', 'discover_files', 'similar_documents', 'expand_context', 'search_variants', 'search_each',
        'relevance_feedback', 'feedback_chunks', 'feedback_terms', 'feedback_vector', 'variant_candidates',
        'read_spans', 'read_hits', 'chunk_places', 'shared_headings', 'file_surrogates', 'rival_passages', 'weigh_terms',
        'link_documents', 'question_coverage', 'related_words', 'find_definitions',
        'dense_candidates', 'keyword_candidates', 'keyword_proposals', 'segment_proposals', 'keyword_weights', 'term_candidates', 'card_candidates',
        'exact_dense_candidates', 'exact_keyword_candidates', 'exact_term_candidates', 'dense_recall', 'sampled_recall',
        -- what searches are made of
        'scope_documents', 'is_narrow', 'check_boost', 'check_count', 'check_filter', 'check_search', 'check_space', 'check_variants',
        'are_weights',
        'document_facts', 'filter_compares', 'filter_contains', 'filter_form', 'filter_matches', 'filter_operator',
        'fuse_terms', 'weighted_terms', 'term_centroid', 'dense_statement', 'keyword_statement', 'posting_statement', 'segment_statement', 'bound_space',
        'default_depth', 'default_feedback_documents', 'default_fusion', 'default_k', 'default_weights',
        'rrf_constant', 'keyword_text', 'lexemes', 'query_lexemes', 'question_config', 'text_configs', 'lexeme_text', 'lexeme_vector', 'dense_probes',
        'segment_name', 'sealing', 'keyword_plan', 'unsealed_keywords', 'bm25_parameters', 'most_dimensions',
        -- looks
        'configuration', 'id_secret', 'database_status', 'database_identity', 'server_versions', 'list_datasets', 'list_documents', 'count_documents', 'count_by',
        'list_keys', 'list_chunks', 'find_documents', 'sample_documents', 'document_text', 'read_document', 'read_chunks',
        'document_digests', 'document_hashes', 'document_recipes', 'document_twins', 'documents_under',
        'chunks_without_vector', 'reusable_chunks', 'kept_vectors', 'content_hash', 'vector_key',
        'index_use', 'wanted_indexes', 'vector_index', 'keyword_index', 'dense_storage', 'outgrown_indexes', 'count_faults', 'find_problems', 'reembed_status', 'reader_rights', 'reader_gaps',
        'named_extensions', 'moved_extensions', 'schema_gaps', 'release_numbers', 'known_faults', 'extension_faults'],
    -- SELECT: what these functions read, and what tells whether program and database fit
    array[
        'configuration', 'embedding_space', 'dataset', 'document', 'chunk', 'term', 'card_term', 'corpus',
        'dataset_count', 'dataset_change', 'term_count', 'term_change', 'corpus_statistics', 'term_statistics',
        'keyword', 'keyword_tail', 'keyword_segment', 'posting', 'index_build', 'reembedding', 'migration', 'function_release'],
    -- Of the extensions' functions, those that everybody may call and that write (spill, merge), make files on the
    -- server (dump_index, pageviz), show an index's pages or what others asked for (summarize, inspect, sampled), or
    -- read all of it into memory (prewarm, evaluate). pgvector has none.
    array[
        'bm25_spill_index', 'bm25_force_merge', 'bm25_dump_index', 'bm25_debug_pageviz', 'bm25_summarize_index',
        'vchordrq_prewarm', 'vchordg_prewarm', 'vchordrq_evaluate_query_recall', 'vchordrq_sampled_values',
        'vchordrq_sampled_queries', 'bm25_page_inspect']
$$;

CREATE FUNCTION lexichord.rebuild_indexes() RETURNS boolean
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    select lexichord.make_indexes(anew => exists (select from chunk))
$$;

CREATE FUNCTION lexichord.record_comparison(comparison jsonb) RETURNS void
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    update reembedding r set comparison = record_comparison.comparison where r.state <> 'dropped'
$$;

CREATE FUNCTION lexichord.record_evaluation(set_name text, strategy text, queries jsonb, results jsonb, ks integer[], version text, settings jsonb DEFAULT '{}'::jsonb, qps jsonb DEFAULT '{}'::jsonb, started_at timestamp with time zone DEFAULT now()) RETURNS bigint
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    with kept as (
        insert into evaluation_set as s (name, digest)
        values (set_name, encode(sha256(convert_to(queries::text, 'utf8')), 'hex'))
        on conflict (name, digest) do update set name = s.name  -- so that its id returns
        returning s.id
    ), question as (
        select q.query, q.place, q.query->>'id' as query_id
        from jsonb_array_elements(queries) with ordinality as q (query, place)
    ), new_question as (
        insert into evaluation_query (set_id, query_id, place, text, hint, intent, answerable)
        select k.id, q.query_id, q.place, q.query->>'text', q.query->>'hint', q.query->>'intent',
               coalesce((q.query->>'answerable')::boolean, true)
        from kept k, question q
        on conflict do nothing  -- the set is known
        returning set_id, query_id
    ), judged as (
        insert into judgment (set_id, query_id, kind, uri, char_start, char_end, ordinal, grade,
                              entity_type, variants, critical)
        select n.set_id, n.query_id, j.*
        from new_question n join question q using (query_id), lateral (
            select 'file', f.uri, null::integer, null::integer, null::integer, null::integer,
                   null::text, null::text[], null::boolean
            from jsonb_array_elements_text(q.query->'files') as f (uri)
            union all
            select 'span', s.file, s.start, s.end, null, null, null, null, null
            from jsonb_to_recordset(q.query->'spans') as s (file text, start integer, "end" integer)
            union all
            select 'chunk', c.place->>0, null, null, (c.place->>1)::integer, null, null, null, null
            from jsonb_array_elements(q.query->'chunks') as c (place)
            union all
            select 'grade', r.uri, null, null, null, r.grade::integer, null, null, null
            from jsonb_each_text(q.query->'grades') as r (uri, grade)
            union all
            select 'entity', null, null, null, null, null, e.type,
                   array(select jsonb_array_elements_text(e.variants)), coalesce(q.query->'critical' ? e.type, false)
            from jsonb_each(q.query->'entities') as e (type, variants)
        ) as j
    ), evaluated as (
        insert into evaluation (set_id, strategy, settings, ks, qps, version, started_at)
        select k.id, strategy, settings, ks, qps, version, started_at from kept k
        returning id
    ), resulted as (
        insert into evaluation_result (evaluation_id, query_id, ms, passages, files, answer, confidence,
                                       abstained, error, metrics)
        select e.id, r.query_id, r.ms, coalesce(r.passages, '[]'), coalesce(r.files, '{}'), coalesce(r.answer, ''),
               r.confidence, coalesce(r.abstained, false), r.error, coalesce(r.metrics, '{}')
        from evaluated e, jsonb_to_recordset(results) as r (
            query_id text, ms double precision, passages jsonb, files text[], answer text,
            confidence double precision, abstained boolean, error text, metrics jsonb)
    )
    select id from evaluated
$$;

CREATE FUNCTION lexichord.record_files(run_id bigint, uris text[], status text, reason text DEFAULT ''::text, chunks bigint DEFAULT 0) RETURNS void
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    insert into run_file (run_id, uri, status, reason, chunks)
    select run_id, u, status, reason, chunks from unnest(uris) as u
    on conflict on constraint run_file_pkey do update
    set status = excluded.status, reason = excluded.reason, chunks = excluded.chunks, finished_at = now();
    select lexichord.touch_run(run_id);
$$;

CREATE FUNCTION lexichord.record_query(intent text, confidence double precision, abstained boolean, hits jsonb, version text, stages jsonb DEFAULT '[]'::jsonb, counts jsonb DEFAULT '{}'::jsonb, ms double precision DEFAULT NULL::double precision, coverage double precision DEFAULT NULL::double precision, space text DEFAULT NULL::text, datasets text[] DEFAULT '{}'::text[], narrowed boolean DEFAULT false, hinted boolean DEFAULT false, query text DEFAULT NULL::text, hint text DEFAULT NULL::text) RETURNS bigint
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    with recorded as (
        insert into query (version, space, datasets, narrowed, hinted, text, hint,
                           intent, confidence, abstained, coverage, ms, counts, stages)
        values (version, space, datasets, narrowed, hinted, query, hint,
                intent, confidence, abstained, coverage, ms, counts, stages)
        returning id
    ), recorded_hit as (
        insert into query_hit (query_id, rank, chunk_id, dataset, uri, char_start, char_end, score, scores, ranks)
        select r.id, h.rank, h.chunk_id, h.dataset, h.uri, h.char_start, h.char_end, h.score,
               coalesce(h.scores, '{}'), coalesce(h.ranks, '{}')
        from recorded r, rows from (jsonb_to_recordset(hits) as (
            chunk_id bigint, dataset text, uri text, char_start integer, char_end integer,
            score double precision, scores jsonb, ranks jsonb
        )) with ordinality as h (chunk_id, dataset, uri, char_start, char_end, score, scores, ranks, rank)
    )
    select id from recorded
$$;

CREATE FUNCTION lexichord.recount() RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
begin
    perform lexichord.hold_writers();
    lock table chunk in share mode;
    delete from dataset_change;
    delete from term_change;
    delete from dataset_count;
    delete from term_count;
    perform lexichord_data.add_terms(array(select distinct u.lexeme from chunk c, unnest(c.lexemes) as u));
    insert into dataset_change
    select c.dataset_id, count(*), sum(c.token_count), 0, 0 from chunk c group by 1
    union all
    select d.dataset_id, 0, 0, count(*), sum(d.card_length) from document d group by 1;
    insert into term_change (term_id, dataset_id, df)
    select t.id, h.dataset_id, h.df
    from (select c.dataset_id, u.lexeme, count(*) as df from chunk c, unnest(c.lexemes) as u group by 1, 2) as h
    join term t on t.lexeme = h.lexeme collate "C";
    update term set df = 0 where df <> 0;
    update corpus set (chunk_count, token_count, document_count, card_token_count) = (select 0, 0, 0, 0);
    perform lexichord.fold_statistics();
    perform lexichord_data.add_missing_keywords();
end $$;

CREATE FUNCTION lexichord.redirection(function oid) RETURNS text
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
    select format('create or replace function %I.%I(%s) returns %s language sql %s set search_path = pg_catalog, pg_temp as %L',
                  n.nspname, p.proname, pg_get_function_arguments(p.oid), pg_get_function_result(p.oid),
                  case p.provolatile when 'i' then 'immutable' when 's' then 'stable' else 'volatile' end,
                  format('select %s from lexichord.%I(%s)', coalesce(a.columns, '*'), p.proname, a.arguments))
    from pg_proc p
    join pg_namespace n on n.oid = p.pronamespace
    cross join lateral (
        select string_agg(quote_ident(u.name), ', ' order by u.place) filter (where u.mode <> 'i') as columns,
               string_agg(format('%I => $%s', u.name, u.place), ', ' order by u.place) filter (where u.mode = 'i') as arguments
        from unnest(coalesce(p.proargmodes::text[], array_fill('i'::text, array[p.pronargs::integer])), p.proargnames)
             with ordinality as u (mode, name, place)
    ) as a
    where p.oid = function
$_$;

CREATE FUNCTION lexichord.reembed_index_statements(filled boolean) RETURNS SETOF text
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    with wanted (name, definition) as (
        select 'chunk_other_missing', 'btree (id) where other_embedding is null'
        union all
        select o.index_name || '_other', o.definition from lexichord.vector_index('other_embedding') as o, corpus_statistics n
        where filled and n.chunk_count > 0
    ), existing as (
        select w.*, (select i.indisvalid from pg_index i where i.indexrelid = to_regclass('lexichord_data.' || w.name)) as is_valid
        from wanted w
    )
    select s.statement
    from existing e, lateral (values
        (1, 'drop index concurrently lexichord_data.' || e.name, e.is_valid = false),
        (2, format('create index concurrently %I on lexichord_data.chunk using %s', e.name, e.definition), e.is_valid is distinct from true)
    ) as s (place, statement, is_due)
    where s.is_due order by e.name desc, s.place
$$;

CREATE FUNCTION lexichord.reembed_status() RETURNS TABLE(reembed_id bigint, state text, old_space text, new_space text, other_space text, chunks bigint, missing bigint, embedded bigint, comparison jsonb, started_at timestamp with time zone, seen_at timestamp with time zone, swapped_at timestamp with time zone)
    LANGUAGE plpgsql STABLE ROWS 1
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
begin
    select r.id, r.state, r.old_space, r.new_space, concat_ws('/', r.provider, r.model, r.dimension), n.chunk_count, r.embedded,
           r.comparison, r.started_at, r.seen_at, r.swapped_at
    into reembed_id, state, old_space, new_space, other_space, chunks, embedded, comparison, started_at, seen_at, swapped_at
    from reembedding r, corpus_statistics n order by r.id desc limit 1;
    if not found then
        return;
    elsif state <> 'dropped' then
        select count(*) into missing from chunk c where c.other_embedding is null;
    end if;
    return next;
end $$;

CREATE FUNCTION lexichord.refresh_impacts(anyway boolean DEFAULT false) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
declare
    average double precision;
begin
    select n.token_count::float8 / n.chunk_count into average
    from corpus_statistics n where n.token_count > 0 and (anyway or abs(ln(n.token_count::float8 / n.chunk_count / n.average_length)) > 0.1);
    if average is null then
        return false;
    end if;
    perform lexichord.hold_writers();  -- they make impacts by the mean length of before
    update corpus set average_length = average;
    update keyword k set impacts = i
    from chunk c, lexichord_data.impact_vector(c.lexemes, c.token_count, average) as i where c.id = k.chunk_id;
    return true;
end $$;

CREATE FUNCTION lexichord.refuse_vechord_rows(namespace text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    name text;
    filled boolean;
begin
    foreach name in array array[namespace || '_defaultdocument', namespace || '_defaultchunk'] loop
        if to_regclass(format('public.%I', name)) is not null then
            execute format('select exists (select from public.%I)', name) into filled;
            if filled then
                raise exception 'table % holds rows already, and nothing is overwritten', name
                    using errcode = 'invalid_parameter_value', hint = 'Take another namespace, or drop the tables of this one.';
            end if;
        end if;
    end loop;
end $$;

CREATE FUNCTION lexichord.related_words(question text, chunk_ids bigint[], most integer DEFAULT 8) RETURNS TABLE(word text, lexeme text, chunks bigint, df bigint, weight double precision)
    LANGUAGE sql STABLE ROWS 10
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET jit TO 'off'
    AS $$
    with written as materialized (
        select c.id, d.id as document_id, d.text_config, m[1] as word
        from chunk c join document d on d.id = c.document_id, regexp_matches(c.content, '(?:^|[^[:alnum:]_])([[:alpha:]]{3,})(?![[:alnum:]_])', 'g') as m
        where c.id = any(chunk_ids)
    ), analyzed as materialized (  -- each word once: that is what takes the time
        select w.*, tsvector_to_array(lexichord.lexemes(w.word, w.text_config)) as lexemes
        from (select distinct o.word, o.text_config from written o) as w
    ), held as (
        select mode() within group (order by lower(w.word)) as word, a.lexemes[1] as lexeme, count(distinct w.id) as chunks
        from written w join analyzed a on a.word = w.word and a.text_config is not distinct from w.text_config
        where cardinality(a.lexemes) = 1
        group by a.lexemes[1] having count(distinct w.id) > 1
    )
    select h.word, h.lexeme, h.chunks, t.df,
           h.chunks * ln(1 + (n.chunk_count - t.df + 0.5::float8) / (t.df + 0.5::float8))
    from held h join term_statistics t on t.lexeme = h.lexeme collate "C", corpus_statistics n
    where h.lexeme <> all ((select tsvector_to_array(lexichord.query_lexemes(question, array(select distinct w.document_id from written w))))::text[])
    order by 5 desc, 2
    limit most
$$;

CREATE FUNCTION lexichord.release_numbers(version text) RETURNS integer[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select (string_to_array(substring(version from '^\d+(?:\.\d+)*') || '.0.0', '.')::integer[])[1:3]
$$;

CREATE FUNCTION lexichord.relevance_feedback(query text, query_vector public.halfvec DEFAULT NULL::public.halfvec, feedback_documents integer DEFAULT lexichord.default_feedback_documents(), least_coherence double precision DEFAULT NULL::double precision, depth integer DEFAULT lexichord.default_depth(), datasets text[] DEFAULT NULL::text[], documents bigint[] DEFAULT NULL::bigint[], uri_prefix text DEFAULT NULL::text, filter jsonb DEFAULT NULL::jsonb, fusion text DEFAULT lexichord.default_fusion(), weights double precision[] DEFAULT lexichord.default_weights(), query_space text DEFAULT NULL::text) RETURNS TABLE(chunk_ids bigint[], coherence double precision, terms jsonb, vector public.halfvec)
    LANGUAGE plpgsql STABLE ROWS 1
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
begin
    chunk_ids := array(select f.chunk_id from lexichord.feedback_chunks(query, query_vector, feedback_documents, depth,
                           datasets, documents, uri_prefix, filter, fusion, weights, query_space) as f order by f.rank);
    select (m.n * m.norm ^ 2 - 1) / nullif(m.n - 1, 0) into coherence
    from (select count(*) as n,
                 public.vector_norm(
                     public.avg(public.l2_normalize(c.embedding)::public.vector)) as norm
          from chunk c where c.id = any(chunk_ids) and c.embedding is not null) as m;
    if least_coherence is null or coherence >= least_coherence then
        select jsonb_object_agg(t.lexeme, t.times) into terms
        from lexichord.feedback_terms(query, chunk_ids) as t;
        vector := lexichord.feedback_vector(query_vector, chunk_ids);
    end if;
    return next;
end $$;

CREATE FUNCTION lexichord.reusable_chunks(documents bigint[], recipe text) RETURNS SETOF text
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    select k.key from lexichord.kept_vectors(documents, recipe) as k
$$;

CREATE FUNCTION lexichord.revoke_api_key(key bigint) RETURNS boolean
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    with revoked as (
        update api_key set revoked_at = now() where id = key and revoked_at is null returning 1)
    select exists (select from revoked)
$$;

CREATE FUNCTION lexichord.rival_passages(query text, query_vector public.halfvec DEFAULT NULL::public.halfvec, k integer DEFAULT lexichord.default_depth(), depth integer DEFAULT lexichord.default_depth(), datasets text[] DEFAULT NULL::text[], documents bigint[] DEFAULT NULL::bigint[], uri_prefix text DEFAULT NULL::text, filter jsonb DEFAULT NULL::jsonb, query_space text DEFAULT NULL::text, most_documents integer DEFAULT 10, most_passages integer DEFAULT 2) RETURNS TABLE(document_id bigint, content text, dense_score double precision)
    LANGUAGE plpgsql STABLE ROWS 20
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
begin
    return query
    with hit as (
        select h.*, row_number() over (order by h.score desc, h.chunk_id) as place
        from lexichord.hybrid_search(query, query_vector, k, depth, datasets, documents, uri_prefix, filter,
            query_space => query_space) as h
    ), numbered as (
        select h.*, min(h.place) over own as first, row_number() over (own order by h.place) as number
        from hit h window own as (partition by h.document_id)
    ), ranked as (
        select n.*, dense_rank() over (order by n.first) as file from numbered n
    )
    select r.document_id, r.content, r.dense_score
    from ranked r
    where r.file <= most_documents and r.number <= most_passages
    order by r.file, r.number;
end $$;

CREATE FUNCTION lexichord.rrf_constant() RETURNS integer
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN 60;

CREATE FUNCTION lexichord.sample_documents(dataset text, documents integer, without text[]) RETURNS TABLE(document_id bigint, uri text, sha256 text)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    select d.id, d.uri, d.sha256
    from document d join dataset s on s.id = d.dataset_id
    where s.name = dataset and not d.uri = any(without)
    order by d.sha256 collate "C", d.uri collate "C"
    limit documents
$$;

CREATE FUNCTION lexichord.sample_queries(amount integer DEFAULT 50) RETURNS SETOF text
    LANGUAGE plpgsql STABLE ROWS 50
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $_$
begin
    return query select q.text from query q where q.text ~ '\S' group by q.text order by max(q.id) desc limit amount;
    if not found then
        return query
        select distinct coalesce(nullif(s.heading, ''), substring(s.content from '^.{1,200}?(?:[.?!](?=\s)|\n|$)'), left(s.content, 200))
        from (select c.heading, btrim(c.content, E' \t\r\n') as content from chunk c where c.content ~ '\S' order by hashint8(c.id), c.id limit amount) as s;
    end if;
end $_$;

CREATE FUNCTION lexichord.sampled_recall(amount integer DEFAULT 100) RETURNS double precision
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    with bounds as (
        select min(c.id) as first, max(c.id) as last from chunk c
    ), sampled as (
        select distinct on (s.id) s.embedding
        from bounds b, generate_series(0, amount - 1) as place,
             lateral (select c.id, c.embedding from chunk c
                      where c.id >= b.first + (b.last - b.first) * place / amount and c.embedding is not null
                      order by c.id limit 1) as s
        where s.embedding operator(public.<=>) s.embedding <> 'NaN'  -- zeros are near nothing
    )
    select (count(*) filter (where n.score >= 1 - 1e-5))::float8 / nullif(count(*), 0)
    from sampled s left join lateral (
        select max(d.score) as score from lexichord.dense_candidates(s.embedding) as d) as n on true
$$;

CREATE FUNCTION lexichord.schema_gaps() RETURNS TABLE(problem text, statement text)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    with trusted as (
        select r.oid from pg_roles r
        where r.rolsuper or r.rolname = 'pg_database_owner'
           or r.oid in (select d.datdba from pg_database d where d.datname = current_database())
           or r.oid in (select c.relowner from pg_class c where c.oid = 'lexichord_data.chunk'::regclass)
    ), creator as (
        select n.nspname, case a.grantee when 0 then 'public' else quote_ident(r.rolname) end as name,
               bool_or(a.is_grantable) as grants
        from pg_namespace n
        cross join aclexplode(coalesce(n.nspacl, acldefault('n', n.nspowner))) as a
        left join pg_roles r on r.oid = a.grantee
        where (n.nspname in ('lexichord', 'lexichord_data') or n.oid in (
                  select e.extnamespace from pg_extension e join lexichord.named_extensions() as x on x.extension = e.extname))
          and a.privilege_type = 'CREATE' and a.grantee <> n.nspowner and a.grantee not in (select t.oid from trusted t)
        group by 1, 2
    )
    select format('%s may create objects in schema %I, which the functions look into',
                  string_agg(case c.name when 'public' then 'every role' else c.name end, ', ' order by c.name collate "C"), c.nspname),
           format('revoke create on schema %I from %s%s', c.nspname, string_agg(c.name, ', ' order by c.name collate "C"),
                  case when bool_or(c.grants) then ' cascade' else '' end)
    from creator c
    group by c.nspname
    order by c.nspname
$$;

CREATE FUNCTION lexichord.scope_documents(datasets text[] DEFAULT NULL::text[], documents bigint[] DEFAULT NULL::bigint[], uri_prefix text DEFAULT NULL::text, filter jsonb DEFAULT NULL::jsonb) RETURNS bigint[]
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
declare
    dataset_ids bigint[];
    missing text;
    document_ids bigint[];
begin
    if datasets is null and documents is null and uri_prefix is null and filter is null then
        return null;
    end if;
    select string_agg(quote_literal(n), ', ') into missing
    from unnest(datasets) as n where not exists (select from dataset where name = n);
    if missing is not null then
        raise exception 'there is no dataset %', missing
            using errcode = 'no_data_found', hint = 'select * from lexichord.list_datasets();';
    end if;
    select 'document ' || string_agg(i::text, ', ') into missing
    from unnest(documents) as i where not exists (select from document d where d.id = i);
    if missing is not null then
        raise exception 'there is no such document'
            using errcode = 'no_data_found', detail = missing, hint = 'select * from lexichord.list_documents();';
    end if;
    select array_agg(id) into dataset_ids from dataset where name = any(datasets);

    select coalesce(array_agg(d.id order by d.id), '{}') into document_ids
    from document d
    where (datasets is null or d.dataset_id = any(dataset_ids))
      and (scope_documents.documents is null or d.id = any(scope_documents.documents))
      and (uri_prefix is null or starts_with(d.uri, uri_prefix));
    if filter is null then
        return document_ids;
    end if;
    -- Documents do not count here: a search of several looks inside single ones, too.
    perform lexichord.check_filter(filter, case when scope_documents.documents is null then document_ids else (
        select array_agg(d.id) from document d
        where (datasets is null or d.dataset_id = any(dataset_ids))
          and (uri_prefix is null or starts_with(d.uri, uri_prefix))) end);
    return coalesce((
        select array_agg(d.id order by d.id) from document d join dataset s on s.id = d.dataset_id
        where d.id = any(document_ids) and lexichord.filter_matches(
            lexichord.document_facts(s.name, d.uri, d.title, d.media_type, d.metadata), filter)), '{}');
end $$;

CREATE FUNCTION lexichord.seal_keywords() RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
declare
    rules record;
    merged integer[] := '{}';
    mates record;
    sealed integer;
    waiting bigint[];
    members bigint[];
    size bigint;
begin
    select * into rules from lexichord.sealing();
    if not rules.is_allowed
       or (select n.chunk_count from corpus_statistics n) < rules.least_chunks
       or (select count(*) from (select from keyword_tail limit rules.tail_chunks + 1) as t) <= rules.tail_chunks
       or not pg_try_advisory_xact_lock(hashtextextended('lexichord.seal_keywords', 0)) then
        return false;
    end if;
    perform lexichord.drop_segment(s.number) from keyword_segment s where s.superseded;
    waiting := array(select t.chunk_id from keyword_tail t);
    size := cardinality(waiting);
    loop
        select array_agg(s.number) as numbers, sum(s.chunks) as chunks into mates
        from keyword_segment s
        where not s.superseded and s.number <> all(merged)
          and floor(log(rules.segments_a_tier, greatest(s.chunks / rules.tail_chunks, 1))) <= floor(log(rules.segments_a_tier, greatest(size / rules.tail_chunks, 1)));
        exit when coalesce(cardinality(mates.numbers), 0) < rules.segments_a_tier - 1;
        merged := merged || mates.numbers;
        size := size + mates.chunks;
    end loop;
    members := array(select k.chunk_id from keyword k
                     where k.chunk_id = any(waiting || lexichord.segment_chunks(merged)) order by k.chunk_id);
    update keyword_segment s set superseded = true where s.number = any(merged);
    insert into keyword_segment (number, chunks)
    select coalesce(max(s.number), 0) + 1, cardinality(members) from keyword_segment s
    returning number into sealed;
    perform lexichord.seal_segment(sealed, members);
    delete from keyword_tail t using (
        select w.chunk_id from keyword_tail w where w.chunk_id = any(waiting) for update skip locked) as w
    where t.chunk_id = w.chunk_id;
    return true;
end $$;

CREATE FUNCTION lexichord.seal_segment(number integer, chunk_ids bigint[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    SET client_min_messages TO 'warning'
    AS $_$
declare
    segment text := lexichord.segment_name(number);
    reader text;
begin
    execute format('create table %s (chunk_id bigint not null, vector bm25_catalog.bm25vector not null)', segment);
    execute format('insert into %s select c.id, lexichord_data.lexeme_vector(c.lexemes)::bm25_catalog.bm25vector
                    from lexichord_data.chunk c where c.id = any($1)', segment) using chunk_ids;
    execute format('create index on %s using bm25 (vector bm25_catalog.bm25_ops)', segment);
    for reader in  -- whoever may read keyword
        select case a.grantee when 0 then 'public' else a.grantee::regrole::text end
        from pg_class c, aclexplode(c.relacl) as a
        where c.oid = 'lexichord_data.keyword'::regclass and a.privilege_type = 'SELECT'
    loop
        execute format('grant select on %s to %s', segment, reader);
    end loop;
end $_$;

CREATE FUNCTION lexichord.sealing(OUT least_chunks bigint, OUT tail_chunks bigint, OUT segments_a_tier integer, OUT is_allowed boolean) RETURNS record
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$select 1, 1, 2, true$$;

CREATE FUNCTION lexichord.search_each(queries text[], documents bigint[], query_vectors text[] DEFAULT NULL::text[], k integer DEFAULT 3, query_space text DEFAULT NULL::text) RETURNS SETOF lexichord.numbered_hit
    LANGUAGE plpgsql STABLE ROWS 100
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
begin
    if query_vectors is not null and cardinality(query_vectors) <> cardinality(queries) then
        raise exception 'query_vectors must be as many as queries' using errcode = 'invalid_parameter_value';
    end if;
    return query
    select q.number::integer, h.*
    from unnest(queries) with ordinality as q (query, number)
    cross join unnest(documents) with ordinality as d (id, place),
    lateral lexichord.hybrid_search(q.query, query_vectors[q.number]::public.halfvec, search_each.k,
        greatest(search_each.k, lexichord.default_depth()), documents => array[d.id], query_space => search_each.query_space) as h
    order by q.number, d.place, h.score desc, h.chunk_id;
end $$;

CREATE FUNCTION lexichord.search_variants(variants jsonb, k integer DEFAULT lexichord.default_k(), depth integer DEFAULT lexichord.default_depth(), datasets text[] DEFAULT NULL::text[], documents bigint[] DEFAULT NULL::bigint[], uri_prefix text DEFAULT NULL::text, filter jsonb DEFAULT NULL::jsonb, weights double precision[] DEFAULT lexichord.default_weights(), boost jsonb DEFAULT NULL::jsonb, query_space text DEFAULT NULL::text) RETURNS SETOF lexichord.variant_hit
    LANGUAGE plpgsql STABLE ROWS 10
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
begin
    perform lexichord.check_variants(variants, k, depth);
    return query
    with variant as materialized (
        select v.place, v.variant ->> 'name' as name, v.variant ->> 'text' as text, v.variant -> 'terms' as terms,
               (v.variant ->> 'vector')::public.halfvec as vector, coalesce((v.variant ->> 'weight')::float8, 1) as weight,
               case when jsonb_typeof(v.variant -> 'documents') = 'array' then array(
                   select inside.id from (select e::bigint as id from jsonb_array_elements_text(v.variant -> 'documents') as e) as inside
                   where search_variants.documents is null or inside.id = any(search_variants.documents))
                    else search_variants.documents end as inside
        from jsonb_array_elements(variants) with ordinality as v (variant, place)
    ), candidate as materialized (
        select v.place, v.name, v.weight / (lexichord.rrf_constant() + c.rank) as part, c.*
        from variant v, lexichord.variant_candidates(v.text, nullif(v.terms, 'null'), v.vector, depth, datasets, v.inside,
                 uri_prefix, filter, weights, boost, query_space) as c
    ), fused as (
        select c.chunk_id, sum(c.part order by c.place) as score, min(array[c.place, c.rank]) as first,
               jsonb_object_agg(c.name, c.rank) as ranks, jsonb_object_agg(c.name, c.part) as parts
        from candidate c group by c.chunk_id
        order by 2 desc, 3 limit k
    )
    select h.*, f.score, o.dense_score, o.dense_rank, o.keyword_score, o.keyword_rank, o.fused_score, f.ranks, f.parts
    from fused f
    join lexichord.read_hits(array(select b.chunk_id from fused b)) as h on h.chunk_id = f.chunk_id
    left join candidate o on o.chunk_id = f.chunk_id and o.place = 1
    order by f.score desc, f.first;
end $$;

CREATE FUNCTION lexichord.segment_chunks(segments integer[]) RETURNS bigint[]
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    segment integer;
    own bigint[];
    chunks bigint[] := '{}';
begin
    foreach segment in array segments loop
        execute format('select array_agg(chunk_id) from %s', lexichord.segment_name(segment)) into own;
        chunks := chunks || own;
    end loop;
    return chunks;
end $$;

CREATE FUNCTION lexichord.segment_name(number integer) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select format('lexichord_data.keyword_part_%s', number)
$$;

CREATE FUNCTION lexichord.segment_proposals(segments integer[], terms tsvector, depth integer, documents bigint[]) RETURNS bigint[]
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    SET "bm25_catalog.bm25_limit" TO '1000'
    SET "bm25_catalog.enable_prefilter" TO 'off'
    SET "bm25_catalog.enable_index" TO 'on'
    SET enable_sort TO 'off'
    SET jit TO 'off'
    AS $$
declare
    vector text := lexichord_data.lexeme_vector(terms);
    path text := current_setting('search_path');
    -- Deleted chunks and those out of scope take places. So first as many as fill the depth if matches are spread evenly,
    -- and with room to spare, then all (-1) if that was too little.
    places bigint := case when documents is null then 4::bigint * depth
        else 6::bigint * depth * (select n.document_count from corpus_statistics n) / greatest(cardinality(documents), 1) end;
    segment integer;
    statement text;
    own bigint[];
    living bigint[];
    proposals bigint[] := '{}';
    row_limit bigint;
begin
    if vector is null then
        return '{}';
    end if;
    foreach segment in array segments loop
        foreach row_limit in array array[case when places <= 65535 then places else -1 end, -1] loop
            statement := format('select pg_catalog.array_agg(p.chunk_id) from (%s) as p',
                                lexichord.segment_statement(segment, vector, nullif(row_limit, -1)));
            -- vchord_bm25 looks its own types up by the search path.
            perform set_config('bm25_catalog.bm25_limit', row_limit::text, true),
                    set_config('search_path', 'pg_catalog, bm25_catalog, pg_temp', true);
            execute statement into own;
            perform pg_catalog.set_config('search_path', path, true);
            living := array(select k.chunk_id from keyword k where k.chunk_id = any(own)
                            and (segment_proposals.documents is null or k.document_id = any(segment_proposals.documents)));
            exit when cardinality(living) >= depth or row_limit = -1;
        end loop;
        proposals := proposals || living;
    end loop;
    return proposals;
end $$;

CREATE FUNCTION lexichord.segment_statement(segment integer, terms text, depth bigint) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
    select format($statement$
        select p.chunk_id
        from (select chunk_id, vector operator(pg_catalog.<&>) bm25_catalog.to_bm25query(
                         '%1$s_vector_idx'::regclass, %2$L::bm25_catalog.bm25vector) as distance
              from %1$s order by distance limit %3$s) as p
        where p.distance < 0::real
        $statement$, lexichord.segment_name(segment), terms, coalesce(depth::text, 'all'))
$_$;

CREATE FUNCTION lexichord.server_versions() RETURNS TABLE(name text, version text)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select 'postgres', current_setting('server_version')
    union all
    (select extname, extversion from pg_extension
     where extname in ('vector', 'pg_textsearch', 'vchord', 'vchord_bm25') order by extname)
$$;

CREATE FUNCTION lexichord.set_metadata(document bigint, changes jsonb) RETURNS jsonb
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
declare
    changed jsonb;
begin
    if jsonb_typeof(changes) is distinct from 'object' then
        raise exception 'metadata: % is no object', coalesce(changes::text, 'null') using errcode = 'invalid_parameter_value';
    end if;
    update document d
    set metadata = (d.metadata || changes) - array(select k from jsonb_each(changes) as c (k, v) where v = 'null'),
        updated_at = now()
    where d.id = set_metadata.document
    returning d.metadata into changed;
    if changed is null then
        raise exception 'there is no document %', document using errcode = 'no_data_found';
    end if;
    return changed;
end $$;

CREATE FUNCTION lexichord.set_other_vectors(space text, chunk_ids bigint[], row_versions text[], vectors text[]) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
declare
    filled bigint;
begin
    perform lexichord.bound_space();  -- no swap from here on
    update reembedding r set seen_at = clock_timestamp()
    where r.state <> 'dropped' and concat_ws('/', r.provider, r.model, r.dimension) = set_other_vectors.space;
    if not found then
        raise exception 'the database has no column for vectors of %', space
            using errcode = 'invalid_parameter_value', hint = 'Somebody has swapped or dropped it: see lexichord status.';
    end if;
    with same as (
        select c.id, v.vector
        from unnest(chunk_ids, row_versions, vectors) as v (id, version, vector) join chunk c on c.id = v.id
        where c.other_embedding is null and c.xmin::text = v.version
        order by c.id for no key update of c
    )
    update chunk c set other_embedding = s.vector::public.halfvec from same s where c.id = s.id;
    get diagnostics filled = row_count;
    update reembedding r set embedded = r.embedded + filled where r.state <> 'dropped';
    return filled;
end $$;

CREATE FUNCTION lexichord.set_vectors(chunk_ids bigint[], vectors text[], space text DEFAULT NULL::text) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
declare
    filled bigint;
begin
    perform lexichord.check_space(space);
    update chunk c set embedding = v.vector::public.halfvec
    from unnest(chunk_ids, vectors) as v (id, vector)
    where c.id = v.id and c.embedding is null;
    get diagnostics filled = row_count;
    return filled;
end $$;

CREATE FUNCTION lexichord.shared_headings(documents bigint[], most integer DEFAULT 8) RETURNS TABLE(heading text)
    LANGUAGE sql STABLE ROWS 8
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    with named as (
        select distinct on (c.document_id, n.name) c.document_id, d.text_config, c.ordinal, p.place, n.name
        from chunk c join document d on d.id = c.document_id,
             regexp_split_to_table(c.heading, ' [›–] ') with ordinality as p (part, place),
             -- "5. Term", "§ 3 Term", "ARTICLE IV. Term", "(a) Term" are one heading.
             btrim(regexp_replace(p.part,
                 '^\s*(?:(?:article|section|clause|chapter|part|schedule|annex)\M)?[^[:alpha:]]*(?:(?:[ivxlc]+|[a-z])[.):]\s+)?',
                 '', 'i'), ' .:') as n (name)
        where c.document_id = any(documents) and n.name ~ '[[:alpha:]]{3}'
        order by c.document_id, n.name, c.ordinal, p.place
    ), by_word as (
        select u.lexeme, count(distinct n.document_id) as held, min(n.ordinal) as first,
               (array_agg(n.name order by length(n.name), n.document_id, n.ordinal))[1] as name
        from named n, unnest(lexichord.lexemes(n.name, n.text_config)) as u
        group by u.lexeme
        having count(distinct n.document_id) > 1
    ), shared as (
        select (array_agg(name order by name))[1] as name, max(held) as held, min(first) as first
        from by_word
        group by lower(name)
        order by max(held) desc, min(first), 1
        limit most
    )
    select name from shared order by first, name
$$;

CREATE FUNCTION lexichord.similar_documents(source bigint, k integer DEFAULT lexichord.default_k(), datasets text[] DEFAULT NULL::text[], documents bigint[] DEFAULT NULL::bigint[], uri_prefix text DEFAULT NULL::text, filter jsonb DEFAULT NULL::jsonb) RETURNS TABLE(document_id bigint, dataset text, uri text, title text, score double precision, hits bigint)
    LANGUAGE plpgsql STABLE ROWS 10
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
declare
    own bigint;
    mean public.halfvec;
begin
    select count(*), public.avg(c.embedding) into own, mean from chunk c where c.document_id = source;
    if not exists (select from document d where d.id = source) then
        raise exception 'there is no such document' using errcode = 'no_data_found', detail = format('document %s', source);
    elsif mean is null then
        raise exception 'the document has no vectors yet'
            using errcode = 'invalid_parameter_value', detail = format('document %s', source), hint = 'Ingest again with an embedder.';
    elsif k is null or k < 1 then
        raise exception 'k must be at least 1' using errcode = 'invalid_parameter_value';
    end if;
    return query
    select d.id, s.name, d.uri, d.title, max(h.score), count(*)
    from lexichord.dense_candidates(mean, least(own + greatest(20 * k::bigint, 200), 100000)::integer,
             lexichord.scope_documents(datasets, documents, uri_prefix, filter)) as h
    join document d on d.id = h.document_id
    join dataset s on s.id = d.dataset_id
    where d.id <> source
    group by d.id, s.name
    order by 5 desc, 1
    limit k;
end $$;

CREATE FUNCTION lexichord.space_overlap(query_vector public.halfvec, other_vector public.halfvec, k integer DEFAULT lexichord.default_k()) RETURNS double precision
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    with bound as (
        select c.id from chunk c where c.embedding is not null order by (c.embedding operator(public.<=>) query_vector) + 0, c.id limit k
    ), other as (
        select c.id from chunk c where c.other_embedding is not null order by (c.other_embedding operator(public.<=>) other_vector) + 0, c.id limit k
    )
    select (select count(*) from bound b join other o using (id))::double precision
           / nullif(greatest((select count(*) from bound), (select count(*) from other)), 0)
$$;

CREATE FUNCTION lexichord.stage_chunks() RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
begin
    create temporary table if not exists staged_chunk (
        ordinal integer, heading text, char_start integer, char_end integer, page integer,
        content text, context text, keyword_context text, metadata jsonb, embedding public.halfvec
    ) on commit delete rows;
end $$;

CREATE FUNCTION lexichord.start_reembed(provider text, model text, dimension integer, wait_ms integer DEFAULT 200) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    SET lock_timeout TO '0'
    AS $$
declare
    wanted text := concat_ws('/', provider, model, dimension);
    bound text := (select c.space from lexichord.configuration() as c);
    way record;
    started bigint;
begin
    select r.id, r.state, r.old_space, r.new_space, concat_ws('/', r.provider, r.model, r.dimension) as other
    into way from reembedding r where r.state <> 'dropped';
    if wanted = bound then
        raise exception 'the database''s vectors are of % already', bound using errcode = 'invalid_parameter_value';
    elsif way.state = 'filling' and way.other = wanted then
        return way.id;
    elsif way.state = 'filling' then
        raise exception 'a change to % is under way', way.other
            using errcode = 'invalid_parameter_value', hint = 'Finish it with lexichord reembed, or give it up with --drop.';
    elsif way.state = 'swapped' then
        raise exception 'the old vectors, of %, are still kept', way.other
            using errcode = 'invalid_parameter_value', hint = 'Go back to them with --rollback, or first delete them with --drop.';
    elsif dimension > lexichord.most_dimensions() then
        raise exception '% has more dimensions than this engine''s index takes, which is %', wanted, lexichord.most_dimensions()
            using errcode = 'invalid_parameter_value', hint = 'Choose a model, or an output, of fewer dimensions.';
    end if;
    perform set_config('lock_timeout', wait_ms::text, true);
    lock table chunk in access exclusive mode;
    execute format('alter table chunk add column other_embedding public.halfvec(%s)', dimension);
    if dimension <= 1536 then  -- kept in the row, as in index.sql
        alter table chunk alter column other_embedding set storage plain;
    end if;
    create trigger forget_other_vector before update of content, context on chunk
        for each row execute function lexichord_data.forget_other_vector();
    insert into reembedding as r (old_space, new_space, provider, model, dimension)
    values (bound, wanted, start_reembed.provider, start_reembed.model, start_reembed.dimension) returning r.id into started;
    return started;
end $$;

CREATE FUNCTION lexichord.start_run(dataset text, source text, total bigint DEFAULT 0) RETURNS bigint
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    insert into run (dataset, source, total) values (dataset, source, total) returning id
$$;

CREATE FUNCTION lexichord.store_document(dataset text, uri text, title text, media_type text, sha256 text, recipe text, content text, metadata jsonb, twin bigint DEFAULT NULL::bigint, space text DEFAULT NULL::text, text_config text DEFAULT NULL::text) RETURNS TABLE(document_id bigint, status text, chunks bigint)
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
declare
    owner bigint;
    own regconfig := text_config::regconfig;
    -- The file's name beside the title: document @1 among 557 rises from 96.3 to 97.1 % raw, 96.6 to 97.8 % by hint.
    card tsvector := lexichord.lexemes(concat_ws(' ', title, title, regexp_replace(uri, '^.*/', ''), left(content, 1500)), own);
    length integer := (select coalesce(sum(cardinality(u.positions)), 0) from unnest(card) as u);
begin
    perform lexichord_data.join_writers();
    perform lexichord.check_space(space);
    insert into dataset (name) values (store_document.dataset) on conflict (name) do nothing;
    select s.id into strict owner from dataset s where s.name = store_document.dataset;
    loop  -- whoever stores or deletes the same document is waited for, and may have left it or not
        status := 'replaced';
        select d.id into document_id from document d
        where d.dataset_id = owner and d.uri = store_document.uri for no key update;
        exit when found;
        status := 'inserted';
        insert into document as d (dataset_id, uri, title, media_type, sha256, recipe, text, metadata, text_config, card_length)
        values (owner, store_document.uri, store_document.title, store_document.media_type, store_document.sha256,
                store_document.recipe, store_document.content, store_document.metadata, own, length)
        on conflict do nothing returning d.id into document_id;
        exit when found;
    end loop;

    -- While the old chunks and the old recipe are still there.
    update staged_chunk g set embedding = k.embedding
    from lexichord.kept_vectors(array[document_id, twin], store_document.recipe) as k
    where g.embedding is null and k.key = lexichord.vector_key(g.content, g.context, g.metadata);

    if status = 'replaced' then
        update document d
        set title = store_document.title, media_type = store_document.media_type, sha256 = store_document.sha256,
            recipe = store_document.recipe, text = store_document.content, metadata = store_document.metadata,
            text_config = own, card_length = length, updated_at = now()
        where d.id = store_document.document_id;
    end if;

    delete from card_term c where c.document_id = store_document.document_id;
    insert into card_term (lexeme, document_id, tf)
    select u.lexeme, store_document.document_id, cardinality(u.positions) from unnest(card) as u;

    delete from chunk c where c.document_id = store_document.document_id;
    with taken as (delete from staged_chunk returning *)
    insert into chunk (dataset_id, document_id, ordinal, heading, char_start, char_end, page, content, context,
                       keyword_context, lexemes, token_count, metadata, content_hash, embedding)
    select owner, store_document.document_id, g.ordinal, g.heading, g.char_start, g.char_end, g.page, g.content, g.context,
           g.keyword_context, l, (select coalesce(sum(cardinality(u.positions)), 0) from unnest(l) as u), g.metadata,
           lexichord.content_hash(g.content), g.embedding
    from taken g, lexichord.lexemes(concat_ws(' ', g.context, g.keyword_context, g.content), own) as l;
    get diagnostics chunks = row_count;
    perform lexichord.fold_statistics(from_changes => 32);
    return next;
end $$;

CREATE FUNCTION lexichord.swap_indexes() RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    SET client_min_messages TO 'warning'
    AS $$
declare
    name text := (select o.index_name from lexichord.vector_index('other_embedding') as o);
begin
    execute format('alter index if exists %I rename to %I', name, name || '_swapped');
    execute format('alter index if exists %I rename to %I', name || '_other', name);
    execute format('alter index if exists %I rename to %I', name || '_swapped', name || '_other');
    update index_build b set index_name = name || '_swapped' where b.index_name = name;
    update index_build b set index_name = name where b.index_name = name || '_other';
    if not found then  -- it was built just now
        insert into index_build (index_name, chunks, last_chunk)
        select name, n.chunk_count, (select coalesce(max(c.id), 0) from chunk c) from corpus_statistics n;
    end if;
    update index_build b set index_name = name || '_other' where b.index_name = name || '_swapped';
end $$;

CREATE FUNCTION lexichord.swap_spaces(incomplete boolean DEFAULT false, wait_ms integer DEFAULT 200) RETURNS TABLE(swapped boolean, missing bigint)
    LANGUAGE plpgsql ROWS 1
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    SET lock_timeout TO '0'
    AS $$
begin
    swapped := false;
    perform set_config('lock_timeout', wait_ms::text, true);
    perform lexichord.hold_writers();
    if not exists (select from reembedding r where r.state <> 'dropped') then
        raise exception 'there are no other vectors to swap with' using errcode = 'invalid_parameter_value';
    end if;
    select count(*) into missing from chunk c where c.other_embedding is null;
    if missing > 0 and not incomplete then
        return next;
        return;
    end if;
    lock table chunk in access exclusive mode;
    alter table chunk rename column embedding to swapped_embedding;
    alter table chunk rename column other_embedding to embedding;
    alter table chunk rename column swapped_embedding to other_embedding;
    drop index if exists chunk_other_missing;
    perform lexichord.swap_indexes();
    with bound as (
        select s.* from embedding_space s
    ), moved as (
        update embedding_space s set provider = r.provider, model = r.model, dimension = r.dimension
        from reembedding r where r.state <> 'dropped'
    )
    update reembedding r
    set provider = b.provider, model = b.model, dimension = b.dimension, seen_at = clock_timestamp(),
        state = case r.state when 'filling' then 'swapped' else 'filling' end,
        swapped_at = case r.state when 'filling' then clock_timestamp() end
    from bound b where r.state <> 'dropped';
    swapped := true;
    return next;
end $$;

CREATE FUNCTION lexichord.term_candidates(terms tsvector, depth integer DEFAULT lexichord.default_depth(), documents bigint[] DEFAULT NULL::bigint[]) RETURNS TABLE(chunk_id bigint, document_id bigint, rank bigint, score double precision)
    LANGUAGE plpgsql STABLE ROWS 100
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
declare
    proposals bigint[];
begin
    if coalesce(length(terms), 0) = 0 then
        return;
    end if;
    if documents is null or not lexichord.is_narrow(documents) then
        proposals := lexichord.keyword_proposals(terms, depth, documents);
    end if;
    return query select * from lexichord.exact_term_candidates(terms, depth, documents, proposals);
end $$;

CREATE FUNCTION lexichord.term_centroid(terms tsvector, documents bigint[] DEFAULT NULL::bigint[]) RETURNS public.halfvec
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    select public.avg(c.embedding)
    from (select * from lexichord.term_candidates(terms, 10, documents) order by rank limit 10) as best
    join chunk c on c.id = best.chunk_id
$$;

CREATE FUNCTION lexichord.text_configs(documents bigint[] DEFAULT NULL::bigint[]) RETURNS regconfig[]
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
declare
    usual regconfig := (select c.text_config from configuration c);
    own regconfig;
    found_configs regconfig[] := '{}';
begin
    loop
        own := (select d.text_config from document d where d.text_config > coalesce(own::oid, 0::oid) order by d.text_config limit 1);
        exit when own is null;
        found_configs := found_configs || own;
    end loop;
    if found_configs = '{}' then
        return array[usual];
    elsif documents is not null and cardinality(documents) <= 1000 then  -- of more it takes longer than it spares
        found_configs := array(select distinct coalesce(d.text_config, usual) from document d where d.id = any(documents) order by 1);
    elsif usual <> all(found_configs) and exists (select from document d where d.text_config is null) then
        found_configs := found_configs || usual;
    end if;
    return case found_configs when '{}' then array[usual] else found_configs end;
end $$;

CREATE FUNCTION lexichord.touch_run(run_id bigint) RETURNS void
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    update run set seen_at = clock_timestamp() where id = run_id
$$;

CREATE FUNCTION lexichord.unseal_keywords() RETURNS void
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    select pg_advisory_xact_lock(hashtextextended('lexichord.seal_keywords', 0));
    update keyword_segment s set superseded = true;
    insert into keyword_tail (chunk_id) select k.chunk_id from keyword k on conflict do nothing;
$$;

CREATE FUNCTION lexichord.unsealed_keywords() RETURNS TABLE(index_name text, reason text)
    LANGUAGE sql STABLE ROWS 1
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    select 'keyword', format('holds %s chunks that no segment holds yet', t.chunks)
    from lexichord.sealing() as r, corpus_statistics n, lateral (select count(*) as chunks from (select from keyword_tail limit 2 * r.tail_chunks + 1) as t) as t
    where n.chunk_count >= r.least_chunks and t.chunks > 2 * r.tail_chunks
$$;

CREATE FUNCTION lexichord.variant_candidates(query text, terms jsonb DEFAULT NULL::jsonb, query_vector public.halfvec DEFAULT NULL::public.halfvec, depth integer DEFAULT lexichord.default_depth(), datasets text[] DEFAULT NULL::text[], documents bigint[] DEFAULT NULL::bigint[], uri_prefix text DEFAULT NULL::text, filter jsonb DEFAULT NULL::jsonb, weights double precision[] DEFAULT lexichord.default_weights(), boost jsonb DEFAULT NULL::jsonb, query_space text DEFAULT NULL::text) RETURNS TABLE(chunk_id bigint, document_id bigint, rank bigint, score double precision, dense_score double precision, dense_rank bigint, keyword_score double precision, keyword_rank bigint, fused_score double precision)
    LANGUAGE plpgsql STABLE ROWS 100
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
declare
    scope bigint[];
begin
    perform lexichord.check_search(coalesce(query, terms::text), query_vector, query_space, 1, depth, lexichord.default_fusion(), weights);
    scope := lexichord.scope_documents(datasets, documents, uri_prefix, filter);
    return query
    select f.chunk_id, f.document_id, row_number() over (order by f.score desc, f.chunk_id), f.score,
           f.dense_score, f.dense_rank, f.keyword_score, f.keyword_rank, f.fused_score
    from lexichord.fuse_terms(coalesce(lexichord.weighted_terms(terms), lexichord.query_lexemes(query, scope)), query_vector, depth, scope,
             lexichord.default_fusion(), weights, boost) as f
    order by f.score desc, f.chunk_id
    limit depth;
end $$;

CREATE FUNCTION lexichord.vechord_chunks(namespace text, chunk_table text, keys text[]) RETURNS TABLE(key text, content text, context text, metadata jsonb, embedding real[])
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
    t record;
begin
    select * into strict t from lexichord.vechord_tables(namespace) as v where v.table_name = chunk_table;
    return query execute format(
        'select d.%1$I::text, c.%2$I::text, %3$s::text, (select to_jsonb(r) from (select %4$s) as r), c.%5$I::real[]
         from %6$s as d join %7$s as c on c.%8$I = d.%1$I
         where d.%1$I = any($1::%9$s[]) order by d.%1$I, %10$s',
        t.key_column, t.text_column, coalesce('c.' || quote_ident(t.context_column), 'null'),
        lexichord.column_list('c', t.metadata_columns), t.vector_column, t.document_table, chunk_table,
        t.reference_column, t.key_type, lexichord.column_list('c', t.order_columns))
    using keys;
end $_$;

CREATE FUNCTION lexichord.vechord_columns(namespace text) RETURNS TABLE(relation oid, table_name text, class text, name text, role text, dimension integer)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select c.oid, format('%I.%I', n.nspname, c.relname), substr(c.relname, length(namespace) + 2), a.attname::text,
           case when t.oid = 'public.vector'::regtype and a.atttypmod > 0 then 'vector'
                when a.attname in ('text', 'content') and t.typcategory = 'S' then 'text'
                when a.attname in ('context', 'title') and t.typcategory = 'S' then a.attname::text
                when a.attname in ('index', 'ordinal', 'position', 'seq', 'seq_id', 'chunk_index')
                     and t.typname in ('int2', 'int4', 'int8') then 'order'
                when t.typcategory in ('B', 'D', 'E', 'N', 'S', 'T') or t.typname in ('uuid', 'json', 'jsonb') then 'scalar'
                else 'other' end,
           case when t.oid = 'public.vector'::regtype then nullif(a.atttypmod, -1) end
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    join pg_type t on t.oid = a.atttypid
    where c.relkind in ('r', 'p') and starts_with(c.relname, namespace || '_')
      and n.nspname not in ('lexichord', 'lexichord_data', 'information_schema') and n.nspname !~ '^pg_'
$$;

CREATE FUNCTION lexichord.vechord_digests(namespace text, chunk_table text, after text, batch integer) RETURNS TABLE(key text, chunks bigint, sha256 text)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
    t record;
begin
    select * into strict t from lexichord.vechord_tables(namespace) as v where v.table_name = chunk_table;
    return query execute format($query$
        with page as materialized (
            select d.%1$I as key, sha256(convert_to(to_jsonb(d)::text, 'UTF8')) as digest
            from (select %2$s from %3$s as d where d.%1$I is not null and ($1 is null or d.%1$I > $1::%4$s)
                  order by d.%1$I limit $2) as d
        )
        select p.key::text, count(c.%5$I),
               encode(sha256(p.digest || coalesce(string_agg(
                   sha256(convert_to((select to_jsonb(r) from (select %6$s) as r)::text, 'UTF8')
                          || coalesce(public.vector_send(c.%7$I), '')), null order by %8$s), '')), 'hex')
        from page p left join %9$s as c on c.%5$I = p.key
        group by p.key, p.digest order by p.key $query$,
        t.key_column,
        lexichord.column_list('d', array_remove(array[t.key_column, t.document_title, t.document_text] || t.document_metadata, null)),
        t.document_table, t.key_type, t.reference_column,
        lexichord.column_list('c', array_remove(array[t.text_column, t.context_column] || t.metadata_columns, null)),
        t.vector_column, lexichord.column_list('c', t.order_columns), chunk_table)
    using after, batch;
end $_$;

CREATE FUNCTION lexichord.vechord_documents(namespace text, chunk_table text, keys text[]) RETURNS TABLE(key text, title text, content text, metadata jsonb)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
    t record;
begin
    select * into strict t from lexichord.vechord_tables(namespace) as v where v.table_name = chunk_table;
    return query execute format(
        'select d.%I::text, %s::text, %s::text, (select to_jsonb(r) from (select %s) as r) from %s as d where d.%I = any($1::%s[])',
        t.key_column, coalesce('d.' || quote_ident(t.document_title), 'null'), coalesce('d.' || quote_ident(t.document_text), 'null'),
        lexichord.column_list('d', t.document_metadata), t.document_table, t.key_column, t.key_type)
    using keys;
end $_$;

CREATE FUNCTION lexichord.vechord_orphans(namespace text, chunk_table text) RETURNS bigint
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    t record;
    orphans bigint;
begin
    select * into strict t from lexichord.vechord_tables(namespace) as v where v.table_name = chunk_table;
    execute format('select count(*) from %s as c where c.%I is null', chunk_table, t.reference_column) into orphans;
    return orphans;
end $$;

CREATE FUNCTION lexichord.vechord_tables(namespace text) RETURNS TABLE(table_name text, class text, dimension integer, vector_column text, text_column text, context_column text, order_columns text[], metadata_columns text[], reference_column text, document_table text, document_has_vector boolean, key_column text, key_type text, document_title text, document_text text, document_metadata text[])
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    with tables as (
        select c.relation, c.table_name, c.class, count(*) filter (where c.role = 'vector') as vectors,
               max(c.dimension) filter (where c.role = 'vector') as dimension,
               max(c.name) filter (where c.role = 'vector') as vector_column,
               max(c.name) filter (where c.role = 'text') as text_column, -- text before content
               max(c.name) filter (where c.role = 'context') as context_column,
               max(c.name) filter (where c.role = 'title') as title_column,
               min(c.name) filter (where c.role = 'order') as order_column,
               array_agg(c.name) filter (where c.role not in ('vector', 'other')) as scalars
        from lexichord.vechord_columns(namespace) as c group by 1, 2, 3
    )
    select c.table_name, c.class, c.dimension, c.vector_column, c.text_column, c.context_column,
           coalesce(nullif(array_remove(c.order_column || k.names, null), '{}'), '{ctid}'),
           array(select s from unnest(c.scalars) as s
                 where s not in (c.text_column, coalesce(c.context_column, ''), d.reference_column)),
           d.reference_column, d.table_name, d.vectors > 0, d.key_column, d.key_type, d.title_column, d.text_column,
           array(select s from unnest(d.scalars) as s
                 where s not in (coalesce(d.text_column, ''), coalesce(d.title_column, ''), d.key_column))
    from tables c
    cross join lateral (
        select array_agg(a.attname::text order by array_position(i.indkey::int2[], a.attnum)) as names
        from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any(i.indkey)
        where i.indrelid = c.relation and i.indisprimary) as k
    left join lateral (
        select d.*, r.attname::text as reference_column, a.attname::text as key_column,
               format_type(a.atttypid, a.atttypmod) as key_type
        from pg_constraint f
        join tables d on d.relation = f.confrelid and d.relation <> c.relation
        join pg_attribute r on r.attrelid = f.conrelid and r.attnum = f.conkey[1]
        join pg_attribute a on a.attrelid = f.confrelid and a.attnum = f.confkey[1]
        where f.conrelid = c.relation and f.contype = 'f' and cardinality(f.conkey) = 1
        order by d.vectors > 0, d.text_column is null, f.conname limit 1) as d on c.vectors = 1 and c.text_column is not null
    order by c.table_name
$$;

CREATE FUNCTION lexichord.vector_index(vectors text) RETURNS TABLE(index_name text, definition text, by_size boolean, settings jsonb)
    LANGUAGE sql STABLE ROWS 1
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    select 'chunk_dense', format('vchordrq (%I public.halfvec_cosine_ops) %s', vectors, lexichord_data.dense_storage(n.chunk_count)), true,
           jsonb_build_object('vchordrq.probes', p.probes, 'vchordrq.enable_scan', 'on')
    from corpus_statistics n, lexichord_data.dense_probes() as p
$$;

CREATE FUNCTION lexichord.vector_key(content text, context text, metadata jsonb) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select lexichord.content_hash(content)
        || case when metadata ? 'context_by' then lexichord.content_hash(context) else '' end
$$;

CREATE FUNCTION lexichord.wanted_indexes() RETURNS TABLE(index_name text, definition text, reason text)
    LANGUAGE sql STABLE ROWS 2
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    select i.index_name, i.definition, case
        when to_regclass('lexichord_data.' || i.index_name) is null then 'is missing'
        when i.by_size and n.chunk_count >= 50000 and n.chunk_count > 2 * coalesce(b.chunks, 0)
        then format('was built for %s chunks, there are %s', coalesce(b.chunks, 0), n.chunk_count) end
    from corpus_statistics n, (
        select v.index_name, 'chunk using ' || v.definition, v.by_size from lexichord.vector_index('embedding') as v
        union all
        select k.index_name, 'keyword using ' || k.definition, false from lexichord.keyword_index() as k) as i (index_name, definition, by_size)
    left join index_build b using (index_name)
    where n.chunk_count > 0
$$;

CREATE FUNCTION lexichord.weigh_terms(texts text[]) RETURNS TABLE(lexeme text, idf double precision, df bigint, text_numbers integer[], frequencies integer[])
    LANGUAGE sql STABLE ROWS 500
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET jit TO 'off'
    AS $$
    with own as materialized (
        select lexichord.question_config(array_to_string(texts, ' ')) as config
    ), held as (
        select u.lexeme collate "C" as lexeme,
               array_agg(t.number::integer) as numbers, array_agg(cardinality(u.positions)) as frequencies
        from own, unnest(texts) with ordinality as t (content, number), lateral unnest(lexichord.lexemes(t.content, own.config)) as u
        group by u.lexeme collate "C"
    )
    select h.lexeme, ln(1 + (c.chunk_count - coalesce(w.df, 0) + 0.5::float8) / (coalesce(w.df, 0) + 0.5::float8)),
           coalesce(w.df, 0), h.numbers, h.frequencies
    from corpus_statistics c, held h
    left join term_statistics w on w.lexeme = h.lexeme
    order by h.lexeme
$$;

CREATE FUNCTION lexichord.weighted_terms(terms jsonb) RETURNS tsvector
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
    wrong text;
begin
    if jsonb_typeof(terms) <> 'object' then
        raise exception 'terms must be an object, lexeme to times' using errcode = 'invalid_parameter_value';
    end if;
    select string_agg(quote_literal(t.key), ', ') into wrong
    from jsonb_each_text(terms) as t where t.key = '' or t.value is null or t.value !~ '^[0-9]{1,3}$' or t.value::integer not between 1 and 255;
    if wrong is not null then
        raise exception 'a lexeme has text and counts 1 to 255 times: %', wrong using errcode = 'invalid_parameter_value';
    end if;
    return (select coalesce(string_agg(format('''%s'':%s', replace(replace(t.key, '\', '\\'), '''', ''''''),
                (select string_agg(n::text, ',') from generate_series(1, t.value::integer) as n)), ' '), '')::tsvector
            from jsonb_each_text(terms) as t);
end $_$;

CREATE FUNCTION lexichord.write_vechord(namespace text, datasets text[] DEFAULT NULL::text[]) RETURNS TABLE(documents bigint, chunks bigint)
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $_$
declare
    scope bigint[] := coalesce(lexichord.scope_documents(datasets), array(select d.id from document d));
begin
    execute format('lock table public.%I, public.%I in share row exclusive mode',
                   namespace || '_defaultdocument', namespace || '_defaultchunk');
    perform lexichord.refuse_vechord_rows(namespace);
    execute format(
        'insert into public.%I (uid, title, text, created_at)
         select lexichord.ordered_uuid(now(), d.id), d.title, d.text, d.created_at
         from document d where d.id = any($1)', namespace || '_defaultdocument')
    using scope;
    get diagnostics documents = row_count;
    execute format(
        'insert into public.%I (uid, doc_id, text, vec, keyword)
         select lexichord.ordered_uuid(now(), row_number() over (order by c.document_id, c.ordinal)),
                lexichord.ordered_uuid(now(), c.document_id), c.content, c.embedding::public.vector,
                tokenizer_catalog.tokenize(
                    concat_ws(E''\n'', nullif(c.context, ''''), nullif(c.keyword_context, ''''), c.content),
                    ''bert_base_uncased'')::bm25_catalog.bm25vector
         from chunk c where c.document_id = any($1)', namespace || '_defaultchunk')
    using scope;
    get diagnostics chunks = row_count;
    return next;
end $_$;

CREATE FUNCTION lexichord_data.add_inserted_keywords() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
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

CREATE FUNCTION lexichord_data.dense_probes(OUT probes text, OUT lists text) RETURNS record
    LANGUAGE sql STABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select coalesce(max(substring(o from '^probes=(.*)')), max(l.lists), ''), coalesce(max(l.lists), '')
    from pg_class c, unnest(c.reloptions) as o, lateral (select substring(o from 'lists *= *\[([^]]+)\]')) as l (lists)
    where c.oid = to_regclass('lexichord_data.chunk_dense')
$$;

CREATE FUNCTION lexichord_data.dense_storage(chunks bigint) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
    select case when chunks >= 50000 then format(
        E'with (options = $o$residual_quantization = true\n[build.internal]\nlists = [%s]\nspherical_centroids = true$o$, probes = ''%s'')',
        lists, greatest(lists / 16, 50)) else '' end
    from (select least(chunks / 500, (4 * sqrt(chunks))::bigint)) as n (lists)
$_$;

CREATE FUNCTION lexichord_data.drop_from_tail() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
begin
    delete from keyword_tail t using changed c where t.chunk_id = c.chunk_id;
    return null;
end $$;

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

CREATE FUNCTION lexichord_data.join_writers() RETURNS void
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    select pg_advisory_xact_lock_shared(hashtextextended('lexichord.write', 0))
$$;

CREATE FUNCTION lexichord_data.lexeme_vector(lexemes tsvector) RETURNS text
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
    select '{' || string_agg(t.id || ':' || cardinality(u.positions), ',' order by t.id) || '}'
    from unnest(lexemes) as u, lateral (select t.id from term t where t.lexeme = u.lexeme offset 0) as t
$$;

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

CREATE TABLE lexichord_data.api_key (
    id bigint NOT NULL,
    name text NOT NULL,
    digest bytea NOT NULL,
    datasets text[],
    writes boolean NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    revoked_at timestamp with time zone,
    CONSTRAINT api_key_datasets_check CHECK ((cardinality(datasets) > 0)),
    CONSTRAINT api_key_digest_check CHECK ((octet_length(digest) = 32)),
    CONSTRAINT api_key_name_check CHECK ((name <> ''::text))
);

ALTER TABLE lexichord_data.api_key ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME lexichord_data.api_key_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
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

CREATE TABLE lexichord_data.dataset (
    id bigint NOT NULL,
    name text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT dataset_name_check CHECK ((name <> ''::text))
);

CREATE TABLE lexichord_data.dataset_count (
    dataset_id bigint NOT NULL,
    chunk_count bigint NOT NULL,
    token_count bigint NOT NULL,
    document_count bigint NOT NULL,
    card_token_count bigint NOT NULL
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

CREATE TABLE lexichord_data.embedding_space (
    only_row boolean DEFAULT true NOT NULL,
    provider text NOT NULL,
    model text NOT NULL,
    dimension integer NOT NULL,
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

CREATE TABLE lexichord_data.function_release (
    only_row boolean DEFAULT true NOT NULL,
    sha256 text NOT NULL,
    version text NOT NULL,
    CONSTRAINT function_release_only_row_check CHECK (only_row)
);

CREATE TABLE lexichord_data.index_build (
    index_name text NOT NULL,
    chunks bigint NOT NULL,
    last_chunk bigint NOT NULL
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

CREATE TABLE lexichord_data.keyword_part_1 (
    chunk_id bigint NOT NULL,
    vector bm25_catalog.bm25vector NOT NULL
);

CREATE TABLE lexichord_data.keyword_part_2 (
    chunk_id bigint NOT NULL,
    vector bm25_catalog.bm25vector NOT NULL
);

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
    seen_at timestamp with time zone DEFAULT now() NOT NULL
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

CREATE TABLE lexichord_data.term_change (
    term_id integer NOT NULL,
    dataset_id bigint NOT NULL,
    df bigint NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='20000');

CREATE TABLE lexichord_data.term_count (
    term_id integer NOT NULL,
    dataset_id bigint NOT NULL,
    df bigint NOT NULL
);

ALTER TABLE lexichord_data.term ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME lexichord_data.term_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE VIEW lexichord_data.term_statistics WITH (security_invoker='true') AS
 SELECT id,
    lexeme,
    (df + (COALESCE(( SELECT sum(c.df) AS sum
           FROM lexichord_data.term_change c
          WHERE (c.term_id = t.id)), (0)::numeric))::bigint) AS df
   FROM lexichord_data.term t;

INSERT INTO lexichord_data.card_term VALUES ('md', 1, 1);
INSERT INTO lexichord_data.card_term VALUES ('三年', 1, 1);
INSERT INTO lexichord_data.card_term VALUES ('为三', 1, 1);
INSERT INTO lexichord_data.card_term VALUES ('义务', 1, 1);
INSERT INTO lexichord_data.card_term VALUES ('乙方', 1, 1);
INSERT INTO lexichord_data.card_term VALUES ('保密', 1, 5);
INSERT INTO lexichord_data.card_term VALUES ('信息', 1, 1);
INSERT INTO lexichord_data.card_term VALUES ('协议', 1, 3);
INSERT INTO lexichord_data.card_term VALUES ('合同', 1, 1);
INSERT INTO lexichord_data.card_term VALUES ('同期', 1, 1);
INSERT INTO lexichord_data.card_term VALUES ('密义', 1, 1);
INSERT INTO lexichord_data.card_term VALUES ('密信', 1, 1);
INSERT INTO lexichord_data.card_term VALUES ('密协', 1, 3);
INSERT INTO lexichord_data.card_term VALUES ('对乙', 1, 1);
INSERT INTO lexichord_data.card_term VALUES ('应当', 1, 1);
INSERT INTO lexichord_data.card_term VALUES ('当对', 1, 1);
INSERT INTO lexichord_data.card_term VALUES ('息承', 1, 1);
INSERT INTO lexichord_data.card_term VALUES ('承担', 1, 1);
INSERT INTO lexichord_data.card_term VALUES ('担保', 1, 1);
INSERT INTO lexichord_data.card_term VALUES ('方应', 1, 1);
INSERT INTO lexichord_data.card_term VALUES ('方的', 1, 1);
INSERT INTO lexichord_data.card_term VALUES ('期限', 1, 1);
INSERT INTO lexichord_data.card_term VALUES ('甲方', 1, 1);
INSERT INTO lexichord_data.card_term VALUES ('的保', 1, 1);
INSERT INTO lexichord_data.card_term VALUES ('限为', 1, 1);
INSERT INTO lexichord_data.card_term VALUES ('day', 2, 1);
INSERT INTO lexichord_data.card_term VALUES ('deposit', 2, 1);
INSERT INTO lexichord_data.card_term VALUES ('first', 2, 1);
INSERT INTO lexichord_data.card_term VALUES ('leas', 2, 3);
INSERT INTO lexichord_data.card_term VALUES ('md', 2, 1);
INSERT INTO lexichord_data.card_term VALUES ('month', 2, 2);
INSERT INTO lexichord_data.card_term VALUES ('pay', 2, 1);
INSERT INTO lexichord_data.card_term VALUES ('rent', 2, 2);
INSERT INTO lexichord_data.card_term VALUES ('tenant', 2, 1);
INSERT INTO lexichord_data.card_term VALUES ('two', 2, 1);
INSERT INTO lexichord_data.card_term VALUES ('md', 3, 1);
INSERT INTO lexichord_data.card_term VALUES ('กเ', 3, 1);
INSERT INTO lexichord_data.card_term VALUES ('ค่า', 3, 1);
INSERT INTO lexichord_data.card_term VALUES ('งช', 3, 1);
INSERT INTO lexichord_data.card_term VALUES ('ชำ', 3, 1);
INSERT INTO lexichord_data.card_term VALUES ('ช่า', 3, 2);
INSERT INTO lexichord_data.card_term VALUES ('ญญ', 3, 3);
INSERT INTO lexichord_data.card_term VALUES ('ญา', 3, 3);
INSERT INTO lexichord_data.card_term VALUES ('ดือ', 3, 1);
INSERT INTO lexichord_data.card_term VALUES ('ต้อ', 3, 1);
INSERT INTO lexichord_data.card_term VALUES ('ทุก', 3, 1);
INSERT INTO lexichord_data.card_term VALUES ('ผู้เ', 3, 1);
INSERT INTO lexichord_data.card_term VALUES ('ระ', 3, 1);
INSERT INTO lexichord_data.card_term VALUES ('สัญ', 3, 3);
INSERT INTO lexichord_data.card_term VALUES ('อง', 3, 1);
INSERT INTO lexichord_data.card_term VALUES ('อน', 3, 1);
INSERT INTO lexichord_data.card_term VALUES ('ะค่', 3, 1);
INSERT INTO lexichord_data.card_term VALUES ('าต้', 3, 1);
INSERT INTO lexichord_data.card_term VALUES ('าทุ', 3, 1);
INSERT INTO lexichord_data.card_term VALUES ('าเ', 3, 1);
INSERT INTO lexichord_data.card_term VALUES ('ำร', 3, 1);
INSERT INTO lexichord_data.card_term VALUES ('เช่', 3, 2);
INSERT INTO lexichord_data.card_term VALUES ('เดื', 3, 1);
INSERT INTO lexichord_data.card_term VALUES ('beträgt', 4, 1);
INSERT INTO lexichord_data.card_term VALUES ('die', 4, 2);
INSERT INTO lexichord_data.card_term VALUES ('drei', 4, 1);
INSERT INTO lexichord_data.card_term VALUES ('gelten', 4, 1);
INSERT INTO lexichord_data.card_term VALUES ('kündigungsfrist', 4, 1);
INSERT INTO lexichord_data.card_term VALUES ('md', 4, 1);
INSERT INTO lexichord_data.card_term VALUES ('mietvertrag', 4, 3);
INSERT INTO lexichord_data.card_term VALUES ('monat', 4, 1);
INSERT INTO lexichord_data.card_term VALUES ('nda', 4, 1);
INSERT INTO lexichord_data.card_term VALUES ('weiter', 4, 1);

INSERT INTO lexichord_data.chunk OVERRIDING SYSTEM VALUE VALUES (1, 1, 1, 0, '', 0, 19, NULL, '甲方应当对乙方的保密信息承担保密义务。', '', '''义务'':17 ''乙方'':6 ''保密'':9,15 ''信息'':11 ''密义'':16 ''密信'':10 ''对乙'':5 ''应当'':3 ''当对'':4 ''息承'':12 ''承担'':13 ''担保'':14 ''方应'':2 ''方的'':7 ''甲方'':1 ''的保'':8', 17, '{}', 'e0b01225d9fd0f41a2b462b7e6323965ab2069c1f605b2b9a7af1f7e3d044a67', '', '[19,1,2,3]');
INSERT INTO lexichord_data.chunk OVERRIDING SYSTEM VALUE VALUES (2, 1, 1, 1, '', 20, 28, NULL, '合同期限为三年。', '', '''三年'':6 ''为三'':5 ''合同'':1 ''同期'':2 ''期限'':3 ''限为'':4', 6, '{}', 'd79fba40c68d1d5fd0007f1241cae7b8eee96812730ac91fc64935d11fb39b59', '', '[8,1,2,3]');
INSERT INTO lexichord_data.chunk OVERRIDING SYSTEM VALUE VALUES (3, 1, 2, 0, '', 0, 56, NULL, 'The tenant pays the rent on the first day of each month.', '', '''day'':9 ''first'':8 ''month'':12 ''pay'':3 ''rent'':5 ''tenant'':2', 6, '{}', '1d901fab05e8cc19edc6ec21b740c45f72f66e6380a03afd6ccaa20db72df032', '', '[56,1,2,3]');
INSERT INTO lexichord_data.chunk OVERRIDING SYSTEM VALUE VALUES (4, 1, 2, 1, '', 57, 89, NULL, 'The deposit is two months'' rent.', '', '''deposit'':2 ''month'':5 ''rent'':6 ''two'':4', 4, '{}', '70b83075a187e3353f5300ee82247d79a8a2945337e7aa9e9bc7613274925c6e', '', '[32,1,2,3]');
INSERT INTO lexichord_data.chunk OVERRIDING SYSTEM VALUE VALUES (5, 3, 3, 0, '', 0, 30, NULL, 'ผู้เช่าต้องชำระค่าเช่าทุกเดือน', '', '''กเ'':18 ''ค่า'':12 ''งช'':7 ''ชำ'':8 ''ช่า'':3,15 ''ดือ'':20 ''ต้อ'':5 ''ทุก'':17 ''ผู้เ'':1 ''ระ'':10 ''อง'':6 ''อน'':21 ''ะค่'':11 ''าต้'':4 ''าทุ'':16 ''าเ'':13 ''ำร'':9 ''เช่'':2,14 ''เดื'':19', 21, '{}', '0a66cf378acace459a1aa10dc97ece929f035ba787d70a460318f6bccf864a53', '', '[30,1,2,3]');
INSERT INTO lexichord_data.chunk OVERRIDING SYSTEM VALUE VALUES (6, 3, 4, 0, '', 0, 40, NULL, 'Die Kündigungsfrist beträgt drei Monate.', '', '''beträgt'':3 ''die'':1 ''drei'':4 ''kündigungsfrist'':2 ''monat'':5', 5, '{}', '19463c3076d439244a3ff1717ee68b2b6c810c4f264421ba706afde9f179f068', '', '[40,1,2,3]');
INSERT INTO lexichord_data.chunk OVERRIDING SYSTEM VALUE VALUES (7, 3, 4, 1, '', 41, 64, NULL, 'Die NDAs gelten weiter.', '', '''die'':1 ''gelten'':3 ''nda'':2 ''weiter'':4', 4, '{}', 'ea8a3d700619225fe8315cf8fd87646578ee7961c6e15e3ad1bc0adeddd7bd3e', '', '[23,1,2,3]');

INSERT INTO lexichord_data.configuration VALUES (true, 'vectorchord', 'english', '110092a6-5a75-4527-b5ac-1e2daf2edda7', false);

INSERT INTO lexichord_data.corpus VALUES (true, 7, 63, 4, 91, 9);

INSERT INTO lexichord_data.dataset OVERRIDING SYSTEM VALUE VALUES (1, 'default', '2026-11-22 21:25:09.791295+00');
INSERT INTO lexichord_data.dataset OVERRIDING SYSTEM VALUE VALUES (3, 'other', '2026-11-22 21:25:09.983738+00');

INSERT INTO lexichord_data.dataset_count VALUES (3, 3, 30, 2, 44);
INSERT INTO lexichord_data.dataset_count VALUES (1, 4, 33, 2, 47);

INSERT INTO lexichord_data.document OVERRIDING SYSTEM VALUE VALUES (1, 1, 'contracts/保密协议.md', '保密协议', 'text/plain', '1036d348e733ca954baaee1e3b864a49e09ec1fdd6c14ebd70ebe0d8b3c3de13', 'test', '甲方应当对乙方的保密信息承担保密义务。
合同期限为三年。', '{}', 33, '2026-11-22 21:25:09.791295+00', '2026-11-22 21:25:09.791295+00', NULL);
INSERT INTO lexichord_data.document OVERRIDING SYSTEM VALUE VALUES (2, 1, 'leases/lease.md', 'Lease', 'text/plain', '8cd0ce923d290bbaef2a980371e687641b4de6df766a965d2e6e40181eeecaf4', 'test', 'The tenant pays the rent on the first day of each month.
The deposit is two months'' rent.', '{}', 14, '2026-11-22 21:25:09.955752+00', '2026-11-22 21:25:09.955752+00', NULL);
INSERT INTO lexichord_data.document OVERRIDING SYSTEM VALUE VALUES (3, 3, 'th/สัญญา.md', 'สัญญา', 'text/plain', '0a66cf378acace459a1aa10dc97ece929f035ba787d70a460318f6bccf864a53', 'test', 'ผู้เช่าต้องชำระค่าเช่าทุกเดือน', '{}', 31, '2026-11-22 21:25:09.983738+00', '2026-11-22 21:25:09.983738+00', NULL);
INSERT INTO lexichord_data.document OVERRIDING SYSTEM VALUE VALUES (4, 3, 'de/mietvertrag.md', 'Mietvertrag', 'text/plain', 'cce19291595f07b45e2253185115a8204a689f1ff08ca3e1169f93257304583d', 'test', 'Die Kündigungsfrist beträgt drei Monate.
Die NDAs gelten weiter.', '{}', 13, '2026-11-22 21:25:09.999586+00', '2026-11-22 21:25:09.999586+00', NULL);

INSERT INTO lexichord_data.embedding_space VALUES (true, 'test', 'tiny', 4);

INSERT INTO lexichord_data.function_release VALUES (true, '526964eaceb3f75f2812c3fae5473570c0262e5ec6dbc83690cd9a52c7bd1168', '0.1.0');

INSERT INTO lexichord_data.index_build VALUES ('chunk_dense', 2, 2);

INSERT INTO lexichord_data.keyword VALUES (1, 1, '{3:0.8558559,4:0.8558559,5:1.1801243,6:0.8558559,9:0.8558559,10:0.8558559,11:0.8558559,12:0.8558559,13:0.8558559,14:0.8558559,15:0.8558559,16:0.8558559,17:0.8558559,18:0.8558559,20:0.8558559,21:0.8558559}/1000000000');
INSERT INTO lexichord_data.keyword VALUES (2, 1, '{1:1.0674157,2:1.0674157,7:1.0674157,8:1.0674157,19:1.0674157,22:1.0674157}/1000000000');
INSERT INTO lexichord_data.keyword VALUES (3, 2, '{23:1.0674157,25:1.0674157,26:1.0674157,27:1.0674157,28:1.0674157,29:1.0674157}/1000000000');
INSERT INTO lexichord_data.keyword VALUES (4, 2, '{24:1.117647,26:1.117647,28:1.117647,30:1.117647}/1000000000');
INSERT INTO lexichord_data.keyword VALUES (5, 3, '{31:0.79831934,32:0.79831934,33:0.79831934,34:0.79831934,35:1.1242603,36:0.79831934,37:0.79831934,38:0.79831934,39:0.79831934,40:0.79831934,41:0.79831934,42:0.79831934,43:0.79831934,44:0.79831934,45:0.79831934,46:0.79831934,47:0.79831934,48:1.1242603,49:0.79831934}/1000000000');
INSERT INTO lexichord_data.keyword VALUES (6, 4, '{50:1.091954,51:1.091954,52:1.091954,54:1.091954,55:1.091954}/1000000000');
INSERT INTO lexichord_data.keyword VALUES (7, 4, '{51:1.117647,53:1.117647,56:1.117647,57:1.117647}/1000000000');

INSERT INTO lexichord_data.keyword_part_1 VALUES (1, '{3:1, 4:1, 5:2, 6:1, 9:1, 10:1, 11:1, 12:1, 13:1, 14:1, 15:1, 16:1, 17:1, 18:1, 20:1, 21:1}');
INSERT INTO lexichord_data.keyword_part_1 VALUES (2, '{1:1, 2:1, 7:1, 8:1, 19:1, 22:1}');

INSERT INTO lexichord_data.keyword_part_2 VALUES (1, '{3:1, 4:1, 5:2, 6:1, 9:1, 10:1, 11:1, 12:1, 13:1, 14:1, 15:1, 16:1, 17:1, 18:1, 20:1, 21:1}');
INSERT INTO lexichord_data.keyword_part_2 VALUES (2, '{1:1, 2:1, 7:1, 8:1, 19:1, 22:1}');
INSERT INTO lexichord_data.keyword_part_2 VALUES (3, '{23:1, 25:1, 26:1, 27:1, 28:1, 29:1}');
INSERT INTO lexichord_data.keyword_part_2 VALUES (4, '{24:1, 26:1, 28:1, 30:1}');
INSERT INTO lexichord_data.keyword_part_2 VALUES (5, '{31:1, 32:1, 33:1, 34:1, 35:2, 36:1, 37:1, 38:1, 39:1, 40:1, 41:1, 42:1, 43:1, 44:1, 45:1, 46:1, 47:1, 48:2, 49:1}');
INSERT INTO lexichord_data.keyword_part_2 VALUES (6, '{50:1, 51:1, 52:1, 54:1, 55:1}');
INSERT INTO lexichord_data.keyword_part_2 VALUES (7, '{51:1, 53:1, 56:1, 57:1}');

INSERT INTO lexichord_data.keyword_segment VALUES (1, 2, true);
INSERT INTO lexichord_data.keyword_segment VALUES (2, 7, false);

INSERT INTO lexichord_data.migration VALUES (1, 'ledger', '6083e0a0eafcb0e3b4fab00d0ed1412cba44abff69589bdafb805021f00b35d1', '2026-11-22 21:25:08.198468+00');
INSERT INTO lexichord_data.migration VALUES (2, 'document', '70a9e023dfb25f6e95c9462b977580a3ca67aa7c9aead14e2e0d60391967b497', '2026-11-22 21:25:08.198468+00');
INSERT INTO lexichord_data.migration VALUES (3, 'term', 'ca58185c82b08dc35a816664e64093223c3391f69af284ccc73623011cd707ea', '2026-11-22 21:25:08.198468+00');
INSERT INTO lexichord_data.migration VALUES (4, 'run', '6ce222dd58489f1769dc100024c513ce07d9f00b605da2dd318829514c679df6', '2026-11-22 21:25:08.198468+00');
INSERT INTO lexichord_data.migration VALUES (5, 'incremental', '7552fb9bd96edfa41f446aa22172aebb5e5589b1e5ccb848c7315dab2c8c340a', '2026-11-22 21:25:08.198468+00');
INSERT INTO lexichord_data.migration VALUES (6, 'query', '25d2bff08229336ba54506382bf59b7f448a52dd30fac9b0371ac7def6c89c20', '2026-11-22 21:25:08.198468+00');
INSERT INTO lexichord_data.migration VALUES (7, 'acronym', 'bad7937e78baccfdb6256508e8c33095d2f7102232f4147b222ad5c738f9b543', '2026-11-22 21:25:08.198468+00');
INSERT INTO lexichord_data.migration VALUES (8, 'evaluation', '96cead47c3c2317f390b5c119bd420c50e1e2d93c86b949292b726f710833750', '2026-11-22 21:25:08.198468+00');
INSERT INTO lexichord_data.migration VALUES (9, 'reembed', 'ab41230fec501f1c197d9679a348eb193a26643e96722855685771899a377dba', '2026-11-22 21:25:08.198468+00');
INSERT INTO lexichord_data.migration VALUES (10, 'chunk_context', '60b6431d71f7115f19b1b63bce56a054820c8d958dfdfa0857e980b80ff7f914', '2026-11-22 21:25:08.198468+00');
INSERT INTO lexichord_data.migration VALUES (11, 'api_key', 'be369a1a364a4e03b0de856e75e6dc0750e675d3398e6b19ef53a05ca88df637', '2026-11-22 21:25:08.198468+00');
INSERT INTO lexichord_data.migration VALUES (12, 'search_path', '91be29841efeee5d287f5d9955d2a4ee3989e12e7354dafd577c0e8a0c4c80e2', '2026-11-22 21:25:08.198468+00');
INSERT INTO lexichord_data.migration VALUES (13, 'keyword', 'aa41f5d0cc47ebbffc0c23a7df606c5ef70742fedb8a6cb9ed1de6c836164c04', '2026-11-22 21:25:08.198468+00');
INSERT INTO lexichord_data.migration VALUES (14, 'statistics', '3f8b7e967713129f30341d652a0a9a89914cbd88bf3d7b99d4ffb96bcef83064', '2026-11-22 21:25:08.198468+00');
INSERT INTO lexichord_data.migration VALUES (15, 'public_ids', '3c04cfe0b9d47d0ff5cd8ab37d3f58d33b4d04543601824d5098a7d2746e50fc', '2026-11-22 21:25:08.198468+00');
INSERT INTO lexichord_data.migration VALUES (16, 'unread', '75671699c3108b91df2eb7eaf76ee3cd839ff262a7f15cf9eee37ae902769296', '2026-11-22 21:25:08.198468+00');
INSERT INTO lexichord_data.migration VALUES (17, 'characters', '97d047456d263257db545b2710f44a47b9d72662669ab5e179b9797349196f4c', '2026-11-22 21:25:08.198468+00');
INSERT INTO lexichord_data.migration VALUES (18, 'language', 'd9b509f1263d5ba9256ad8acf60b8a47ad5800a4fbd6f7e6218ff11a1245af3b', '2026-11-22 21:25:08.198468+00');

INSERT INTO lexichord_data.term OVERRIDING SYSTEM VALUE VALUES (1, '三年', 1);
INSERT INTO lexichord_data.term OVERRIDING SYSTEM VALUE VALUES (2, '为三', 1);
INSERT INTO lexichord_data.term OVERRIDING SYSTEM VALUE VALUES (3, '义务', 1);
INSERT INTO lexichord_data.term OVERRIDING SYSTEM VALUE VALUES (4, '乙方', 1);
INSERT INTO lexichord_data.term OVERRIDING SYSTEM VALUE VALUES (5, '保密', 1);
INSERT INTO lexichord_data.term OVERRIDING SYSTEM VALUE VALUES (6, '信息', 1);
INSERT INTO lexichord_data.term OVERRIDING SYSTEM VALUE VALUES (7, '合同', 1);
INSERT INTO lexichord_data.term OVERRIDING SYSTEM VALUE VALUES (8, '同期', 1);
INSERT INTO lexichord_data.term OVERRIDING SYSTEM VALUE VALUES (9, '密义', 1);
INSERT INTO lexichord_data.term OVERRIDING SYSTEM VALUE VALUES (10, '密信', 1);
INSERT INTO lexichord_data.term OVERRIDING SYSTEM VALUE VALUES (11, '对乙', 1);
INSERT INTO lexichord_data.term OVERRIDING SYSTEM VALUE VALUES (12, '应当', 1);
INSERT INTO lexichord_data.term OVERRIDING SYSTEM VALUE VALUES (13, '当对', 1);
INSERT INTO lexichord_data.term OVERRIDING SYSTEM VALUE VALUES (14, '息承', 1);
INSERT INTO lexichord_data.term OVERRIDING SYSTEM VALUE VALUES (15, '承担', 1);
INSERT INTO lexichord_data.term OVERRIDING SYSTEM VALUE VALUES (16, '担保', 1);
INSERT INTO lexichord_data.term OVERRIDING SYSTEM VALUE VALUES (17, '方应', 1);
INSERT INTO lexichord_data.term OVERRIDING SYSTEM VALUE VALUES (18, '方的', 1);
INSERT INTO lexichord_data.term OVERRIDING SYSTEM VALUE VALUES (19, '期限', 1);
INSERT INTO lexichord_data.term OVERRIDING SYSTEM VALUE VALUES (20, '甲方', 1);
INSERT INTO lexichord_data.term OVERRIDING SYSTEM VALUE VALUES (21, '的保', 1);
INSERT INTO lexichord_data.term OVERRIDING SYSTEM VALUE VALUES (22, '限为', 1);
INSERT INTO lexichord_data.term OVERRIDING SYSTEM VALUE VALUES (51, 'die', 2);
INSERT INTO lexichord_data.term OVERRIDING SYSTEM VALUE VALUES (52, 'drei', 1);
INSERT INTO lexichord_data.term OVERRIDING SYSTEM VALUE VALUES (44, 'าต้', 1);
INSERT INTO lexichord_data.term OVERRIDING SYSTEM VALUE VALUES (42, 'อน', 1);
INSERT INTO lexichord_data.term OVERRIDING SYSTEM VALUE VALUES (40, 'ระ', 1);
INSERT INTO lexichord_data.term OVERRIDING SYSTEM VALUE VALUES (43, 'ะค่', 1);
INSERT INTO lexichord_data.term OVERRIDING SYSTEM VALUE VALUES (26, 'month', 2);
INSERT INTO lexichord_data.term OVERRIDING SYSTEM VALUE VALUES (48, 'เช่', 1);
INSERT INTO lexichord_data.term OVERRIDING SYSTEM VALUE VALUES (57, 'weiter', 1);
INSERT INTO lexichord_data.term OVERRIDING SYSTEM VALUE VALUES (30, 'two', 1);
INSERT INTO lexichord_data.term OVERRIDING SYSTEM VALUE VALUES (28, 'rent', 2);
INSERT INTO lexichord_data.term OVERRIDING SYSTEM VALUE VALUES (37, 'ต้อ', 1);
INSERT INTO lexichord_data.term OVERRIDING SYSTEM VALUE VALUES (56, 'nda', 1);
INSERT INTO lexichord_data.term OVERRIDING SYSTEM VALUE VALUES (29, 'tenant', 1);
INSERT INTO lexichord_data.term OVERRIDING SYSTEM VALUE VALUES (54, 'kündigungsfrist', 1);
INSERT INTO lexichord_data.term OVERRIDING SYSTEM VALUE VALUES (34, 'ชำ', 1);
INSERT INTO lexichord_data.term OVERRIDING SYSTEM VALUE VALUES (35, 'ช่า', 1);
INSERT INTO lexichord_data.term OVERRIDING SYSTEM VALUE VALUES (45, 'าทุ', 1);
INSERT INTO lexichord_data.term OVERRIDING SYSTEM VALUE VALUES (39, 'ผู้เ', 1);
INSERT INTO lexichord_data.term OVERRIDING SYSTEM VALUE VALUES (36, 'ดือ', 1);
INSERT INTO lexichord_data.term OVERRIDING SYSTEM VALUE VALUES (31, 'กเ', 1);
INSERT INTO lexichord_data.term OVERRIDING SYSTEM VALUE VALUES (50, 'beträgt', 1);
INSERT INTO lexichord_data.term OVERRIDING SYSTEM VALUE VALUES (41, 'อง', 1);
INSERT INTO lexichord_data.term OVERRIDING SYSTEM VALUE VALUES (46, 'าเ', 1);
INSERT INTO lexichord_data.term OVERRIDING SYSTEM VALUE VALUES (32, 'ค่า', 1);
INSERT INTO lexichord_data.term OVERRIDING SYSTEM VALUE VALUES (53, 'gelten', 1);
INSERT INTO lexichord_data.term OVERRIDING SYSTEM VALUE VALUES (38, 'ทุก', 1);
INSERT INTO lexichord_data.term OVERRIDING SYSTEM VALUE VALUES (24, 'deposit', 1);
INSERT INTO lexichord_data.term OVERRIDING SYSTEM VALUE VALUES (25, 'first', 1);
INSERT INTO lexichord_data.term OVERRIDING SYSTEM VALUE VALUES (49, 'เดื', 1);
INSERT INTO lexichord_data.term OVERRIDING SYSTEM VALUE VALUES (47, 'ำร', 1);
INSERT INTO lexichord_data.term OVERRIDING SYSTEM VALUE VALUES (33, 'งช', 1);
INSERT INTO lexichord_data.term OVERRIDING SYSTEM VALUE VALUES (55, 'monat', 1);
INSERT INTO lexichord_data.term OVERRIDING SYSTEM VALUE VALUES (27, 'pay', 1);
INSERT INTO lexichord_data.term OVERRIDING SYSTEM VALUE VALUES (23, 'day', 1);

INSERT INTO lexichord_data.term_count VALUES (1, 1, 1);
INSERT INTO lexichord_data.term_count VALUES (4, 1, 1);
INSERT INTO lexichord_data.term_count VALUES (17, 1, 1);
INSERT INTO lexichord_data.term_count VALUES (7, 1, 1);
INSERT INTO lexichord_data.term_count VALUES (3, 1, 1);
INSERT INTO lexichord_data.term_count VALUES (19, 1, 1);
INSERT INTO lexichord_data.term_count VALUES (16, 1, 1);
INSERT INTO lexichord_data.term_count VALUES (12, 1, 1);
INSERT INTO lexichord_data.term_count VALUES (22, 1, 1);
INSERT INTO lexichord_data.term_count VALUES (21, 1, 1);
INSERT INTO lexichord_data.term_count VALUES (9, 1, 1);
INSERT INTO lexichord_data.term_count VALUES (11, 1, 1);
INSERT INTO lexichord_data.term_count VALUES (5, 1, 1);
INSERT INTO lexichord_data.term_count VALUES (10, 1, 1);
INSERT INTO lexichord_data.term_count VALUES (18, 1, 1);
INSERT INTO lexichord_data.term_count VALUES (20, 1, 1);
INSERT INTO lexichord_data.term_count VALUES (15, 1, 1);
INSERT INTO lexichord_data.term_count VALUES (14, 1, 1);
INSERT INTO lexichord_data.term_count VALUES (2, 1, 1);
INSERT INTO lexichord_data.term_count VALUES (6, 1, 1);
INSERT INTO lexichord_data.term_count VALUES (13, 1, 1);
INSERT INTO lexichord_data.term_count VALUES (8, 1, 1);
INSERT INTO lexichord_data.term_count VALUES (53, 3, 1);
INSERT INTO lexichord_data.term_count VALUES (43, 3, 1);
INSERT INTO lexichord_data.term_count VALUES (52, 3, 1);
INSERT INTO lexichord_data.term_count VALUES (31, 3, 1);
INSERT INTO lexichord_data.term_count VALUES (47, 3, 1);
INSERT INTO lexichord_data.term_count VALUES (44, 3, 1);
INSERT INTO lexichord_data.term_count VALUES (42, 3, 1);
INSERT INTO lexichord_data.term_count VALUES (54, 3, 1);
INSERT INTO lexichord_data.term_count VALUES (56, 3, 1);
INSERT INTO lexichord_data.term_count VALUES (48, 3, 1);
INSERT INTO lexichord_data.term_count VALUES (26, 1, 2);
INSERT INTO lexichord_data.term_count VALUES (50, 3, 1);
INSERT INTO lexichord_data.term_count VALUES (25, 1, 1);
INSERT INTO lexichord_data.term_count VALUES (46, 3, 1);
INSERT INTO lexichord_data.term_count VALUES (51, 3, 2);
INSERT INTO lexichord_data.term_count VALUES (40, 3, 1);
INSERT INTO lexichord_data.term_count VALUES (39, 3, 1);
INSERT INTO lexichord_data.term_count VALUES (27, 1, 1);
INSERT INTO lexichord_data.term_count VALUES (55, 3, 1);
INSERT INTO lexichord_data.term_count VALUES (32, 3, 1);
INSERT INTO lexichord_data.term_count VALUES (36, 3, 1);
INSERT INTO lexichord_data.term_count VALUES (37, 3, 1);
INSERT INTO lexichord_data.term_count VALUES (35, 3, 1);
INSERT INTO lexichord_data.term_count VALUES (49, 3, 1);
INSERT INTO lexichord_data.term_count VALUES (29, 1, 1);
INSERT INTO lexichord_data.term_count VALUES (57, 3, 1);
INSERT INTO lexichord_data.term_count VALUES (28, 1, 2);
INSERT INTO lexichord_data.term_count VALUES (45, 3, 1);
INSERT INTO lexichord_data.term_count VALUES (41, 3, 1);
INSERT INTO lexichord_data.term_count VALUES (23, 1, 1);
INSERT INTO lexichord_data.term_count VALUES (34, 3, 1);
INSERT INTO lexichord_data.term_count VALUES (24, 1, 1);
INSERT INTO lexichord_data.term_count VALUES (33, 3, 1);
INSERT INTO lexichord_data.term_count VALUES (30, 1, 1);
INSERT INTO lexichord_data.term_count VALUES (38, 3, 1);

SELECT pg_catalog.setval('lexichord_data.api_key_id_seq', 1, false);

SELECT pg_catalog.setval('lexichord_data.chunk_id_seq', 7, true);

SELECT pg_catalog.setval('lexichord_data.dataset_id_seq', 4, true);

SELECT pg_catalog.setval('lexichord_data.document_id_seq', 4, true);

SELECT pg_catalog.setval('lexichord_data.evaluation_id_seq', 1, false);

SELECT pg_catalog.setval('lexichord_data.evaluation_set_id_seq', 1, false);

SELECT pg_catalog.setval('lexichord_data.query_id_seq', 1, false);

SELECT pg_catalog.setval('lexichord_data.reembedding_id_seq', 1, false);

SELECT pg_catalog.setval('lexichord_data.run_id_seq', 1, false);

SELECT pg_catalog.setval('lexichord_data.term_id_seq', 57, true);

ALTER TABLE ONLY lexichord_data.api_key
    ADD CONSTRAINT api_key_digest_key UNIQUE (digest);

ALTER TABLE ONLY lexichord_data.api_key
    ADD CONSTRAINT api_key_pkey PRIMARY KEY (id);

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

ALTER TABLE ONLY lexichord_data.dataset_count
    ADD CONSTRAINT dataset_count_pkey PRIMARY KEY (dataset_id);

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

ALTER TABLE ONLY lexichord_data.function_release
    ADD CONSTRAINT function_release_pkey PRIMARY KEY (only_row);

ALTER TABLE ONLY lexichord_data.index_build
    ADD CONSTRAINT index_build_pkey PRIMARY KEY (index_name);

ALTER TABLE ONLY lexichord_data.keyword
    ADD CONSTRAINT keyword_pkey PRIMARY KEY (chunk_id);

ALTER TABLE ONLY lexichord_data.keyword_segment
    ADD CONSTRAINT keyword_segment_pkey PRIMARY KEY (number);

ALTER TABLE ONLY lexichord_data.keyword_tail
    ADD CONSTRAINT keyword_tail_pkey PRIMARY KEY (chunk_id);

ALTER TABLE ONLY lexichord_data.migration
    ADD CONSTRAINT migration_pkey PRIMARY KEY (number);

ALTER TABLE ONLY lexichord_data.query_hit
    ADD CONSTRAINT query_hit_pkey PRIMARY KEY (query_id, rank);

ALTER TABLE ONLY lexichord_data.query
    ADD CONSTRAINT query_pkey PRIMARY KEY (id);

ALTER TABLE ONLY lexichord_data.reembedding
    ADD CONSTRAINT reembedding_pkey PRIMARY KEY (id);

ALTER TABLE ONLY lexichord_data.run_file
    ADD CONSTRAINT run_file_pkey PRIMARY KEY (run_id, uri);

ALTER TABLE ONLY lexichord_data.run
    ADD CONSTRAINT run_pkey PRIMARY KEY (id);

ALTER TABLE ONLY lexichord_data.term_count
    ADD CONSTRAINT term_count_pkey PRIMARY KEY (term_id, dataset_id);

ALTER TABLE ONLY lexichord_data.term
    ADD CONSTRAINT term_lexeme_key UNIQUE (lexeme);

ALTER TABLE ONLY lexichord_data.term
    ADD CONSTRAINT term_pkey PRIMARY KEY (id);

CREATE INDEX card_term_document ON lexichord_data.card_term USING btree (document_id);

CREATE INDEX chunk_context_document ON lexichord_data.chunk_context USING btree (dataset_id, uri);

CREATE INDEX chunk_dense ON lexichord_data.chunk USING vchordrq (embedding public.halfvec_cosine_ops);

CREATE INDEX document_metadata ON lexichord_data.document USING gin (metadata);

CREATE INDEX document_source ON lexichord_data.document USING btree (dataset_id, sha256);

CREATE INDEX document_text_config ON lexichord_data.document USING btree (text_config);

CREATE INDEX document_uri ON lexichord_data.document USING btree (uri text_pattern_ops);

CREATE INDEX evaluation_set_id ON lexichord_data.evaluation USING btree (set_id);

CREATE INDEX judgment_query ON lexichord_data.judgment USING btree (set_id, query_id);

CREATE INDEX keyword_document ON lexichord_data.keyword USING btree (document_id);

CREATE INDEX keyword_part_1_vector_idx ON lexichord_data.keyword_part_1 USING bm25 (vector bm25_catalog.bm25_ops);

CREATE INDEX keyword_part_2_vector_idx ON lexichord_data.keyword_part_2 USING bm25 (vector bm25_catalog.bm25_ops);

CREATE INDEX query_asked_at ON lexichord_data.query USING btree (asked_at);

CREATE UNIQUE INDEX reembedding_open ON lexichord_data.reembedding USING btree ((true)) WHERE (state <> 'dropped'::text);

CREATE INDEX run_file_uri ON lexichord_data.run_file USING btree (uri);

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

ALTER TABLE ONLY lexichord_data.card_term
    ADD CONSTRAINT card_term_document_id_fkey FOREIGN KEY (document_id) REFERENCES lexichord_data.document(id) ON DELETE CASCADE;

ALTER TABLE ONLY lexichord_data.chunk_context
    ADD CONSTRAINT chunk_context_dataset_id_fkey FOREIGN KEY (dataset_id) REFERENCES lexichord_data.dataset(id) ON DELETE CASCADE;

ALTER TABLE ONLY lexichord_data.chunk
    ADD CONSTRAINT chunk_document_id_dataset_id_fkey FOREIGN KEY (document_id, dataset_id) REFERENCES lexichord_data.document(id, dataset_id) ON DELETE CASCADE;

ALTER TABLE ONLY lexichord_data.document
    ADD CONSTRAINT document_dataset_id_fkey FOREIGN KEY (dataset_id) REFERENCES lexichord_data.dataset(id) ON DELETE CASCADE;

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

ALTER TABLE ONLY lexichord_data.query_hit
    ADD CONSTRAINT query_hit_query_id_fkey FOREIGN KEY (query_id) REFERENCES lexichord_data.query(id) ON DELETE CASCADE;

ALTER TABLE ONLY lexichord_data.run_file
    ADD CONSTRAINT run_file_run_id_fkey FOREIGN KEY (run_id) REFERENCES lexichord_data.run(id) ON DELETE CASCADE;
