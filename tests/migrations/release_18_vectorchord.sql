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

CREATE FUNCTION lexichord.default_depth() RETURNS integer
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN 100;

CREATE FUNCTION lexichord.default_fusion() RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN 'zscore'::text;

CREATE FUNCTION lexichord.default_k() RETURNS integer
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN 10;

CREATE FUNCTION lexichord.default_weights() RETURNS double precision[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN '{0.35,0.65}'::double precision[];

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
