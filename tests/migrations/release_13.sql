-- A database of the release with migrations 1 to 13, engine plain: pg_dump --inserts, without its settings. Four documents
-- in four languages, with vectors of their own.
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
begin
    perform lexichord.check_search(query, query_vector, query_space, k, depth, fusion, weights);
    return query
    select c.id, c.document_id, s.name, d.uri, d.title, c.heading, c.char_start, c.char_end, c.page, c.content, c.context,
           f.score, f.dense_score, f.dense_rank, f.keyword_score, f.keyword_rank, f.fused_score
    from (select * from lexichord.fuse_terms(lexichord.lexemes(query), query_vector, depth,
              lexichord.scope_documents(datasets, documents, uri_prefix, filter), fusion, weights, boost) as f
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
        select c.chunk_id, sum(c.part order by c.place) as score,
               jsonb_object_agg(c.name, c.rank) as ranks, jsonb_object_agg(c.name, c.part) as parts
        from candidate c group by c.chunk_id
        order by 2 desc, 1 limit k
    )
    select h.*, f.score, o.dense_score, o.dense_rank, o.keyword_score, o.keyword_rank, o.fused_score, f.ranks, f.parts
    from fused f
    join lexichord.read_hits(array(select b.chunk_id from fused b)) as h on h.chunk_id = f.chunk_id
    left join candidate o on o.chunk_id = f.chunk_id and o.place = 1
    order by f.score desc, f.chunk_id;
end $$;

CREATE FUNCTION lexichord_data.add_inserted_keywords() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
begin
    insert into keyword (chunk_id, document_id, impacts)
    select c.id, c.document_id, lexichord_data.impacts(c.lexemes, c.token_count, a.average_length)
    from lexichord_data.average_length() as a (average_length), changed c where c.lexemes <> ''::tsvector;
    return null;
end $$;

CREATE FUNCTION lexichord_data.add_keywords(chunk_ids bigint[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
begin
    insert into keyword (chunk_id, document_id, impacts)
    select c.id, c.document_id, lexichord_data.impacts(c.lexemes, c.token_count, a.average_length)
    from lexichord_data.average_length() as a (average_length), unnest(chunk_ids) as wanted (id) join chunk c on c.id = wanted.id
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

CREATE FUNCTION lexichord_data.add_terms(lexemes text[], changes bigint[]) RETURNS void
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
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
        update corpus set average_length = token_count::float8 / chunk_count where token_count > 0
        returning average_length into average;
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

CREATE FUNCTION lexichord_data.count_document() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
begin
    update lexichord_data.corpus c
    set document_count = c.document_count + (tg_op = 'INSERT')::int - (tg_op = 'DELETE')::int,
        card_token_count = c.card_token_count
            + case when tg_op = 'DELETE' then 0 else new.card_length end
            - case when tg_op = 'INSERT' then 0 else old.card_length end;
    return case tg_op when 'DELETE' then old else new end;
end $$;

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

CREATE FUNCTION lexichord_data.impact(tf bigint, token_count bigint, average_length double precision) RETURNS double precision
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select tf * (k1 + 1) / (tf + k1 * (1 - b + b * token_count / average_length)) from lexichord_data.bm25_parameters()
$$;

CREATE FUNCTION lexichord_data.impacts(lexemes tsvector, token_count bigint, average_length double precision) RETURNS public.sparsevec
    LANGUAGE sql STABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $_$
    select ('{' || coalesce(string_agg(i.id || ':' || i.impact::real, ','), '') || '}/1000000000')::public.sparsevec
    from (select t.id, lexichord_data.impact(cardinality(u.positions), $2, $3) as impact
          from unnest($1) as u join lateral (select t.id from term t where t.lexeme = u.lexeme collate "C" offset 0) as t on true
          order by 2 desc, 1 limit 16000) as i
$_$;

CREATE FUNCTION lexichord_data.replace_keyword() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'lexichord_data', 'pg_temp'
    AS $$
declare
    names text[] := tsvector_to_array(new.lexemes);
begin
    perform lexichord_data.add_terms(names, array_fill(0::bigint, array[cardinality(names)]));
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

CREATE TABLE lexichord_data.dataset (
    id bigint NOT NULL,
    name text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT dataset_name_check CHECK ((name <> ''::text))
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
    set_id bigint CONSTRAINT evaluation_set_id_not_null1 NOT NULL,
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

CREATE TABLE lexichord_data.posting (
    segment integer NOT NULL,
    term_id integer NOT NULL,
    impact real NOT NULL,
    amount smallint NOT NULL,
    chunk_ids bigint[] NOT NULL
)
WITH (toast_tuple_target='8160');

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
    CONSTRAINT run_file_status_check CHECK ((status = ANY (ARRAY['inserted'::text, 'replaced'::text, 'skipped'::text, 'failed'::text, 'deleted'::text])))
);

ALTER TABLE lexichord_data.run ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME lexichord_data.run_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE lexichord_data.term (
    id integer NOT NULL,
    lexeme text NOT NULL COLLATE pg_catalog."C",
    df bigint DEFAULT 0 NOT NULL
);

ALTER TABLE lexichord_data.term ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME lexichord_data.term_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

INSERT INTO lexichord_data.card_term VALUES
	('md', 1, 1),
	('保密协议', 1, 3),
	('合同期限为三年', 1, 1),
	('甲方应当对乙方的保密信息承担保密义务', 1, 1),
	('day', 2, 1),
	('deposit', 2, 1),
	('first', 2, 1),
	('leas', 2, 3),
	('md', 2, 1),
	('month', 2, 2),
	('pay', 2, 1),
	('rent', 2, 2),
	('tenant', 2, 1),
	('two', 2, 1),
	('md', 3, 1),
	('ผู', 3, 1),
	('สัญญา', 3, 3),
	('องชำระค', 3, 1),
	('าต', 3, 1),
	('าทุกเดือน', 3, 1),
	('าเช', 3, 1),
	('เช', 3, 1),
	('beträgt', 4, 1),
	('die', 4, 2),
	('drei', 4, 1),
	('gelten', 4, 1),
	('kündigungsfrist', 4, 1),
	('md', 4, 1),
	('mietvertrag', 4, 3),
	('monat', 4, 1),
	('nda', 4, 1),
	('weiter', 4, 1);

INSERT INTO lexichord_data.chunk OVERRIDING SYSTEM VALUE VALUES
	(1, 1, 1, 0, '', 0, 19, NULL, '甲方应当对乙方的保密信息承担保密义务。', '保密协议', '''保密协议'':1 ''合同期限为三年'':2 ''甲方应当对乙方的保密信息承担保密义务'':3,4', 4, '{}', 'e0b01225d9fd0f41a2b462b7e6323965ab2069c1f605b2b9a7af1f7e3d044a67', '合同期限为三年 甲方应当对乙方的保密信息承担保密义务', '[19,1,2,3]'),
	(2, 1, 1, 1, '', 21, 29, NULL, '合同期限为三年。', '保密协议', '''保密协议'':1 ''合同期限为三年'':2,4 ''甲方应当对乙方的保密信息承担保密义务'':3', 4, '{}', 'd79fba40c68d1d5fd0007f1241cae7b8eee96812730ac91fc64935d11fb39b59', '合同期限为三年 甲方应当对乙方的保密信息承担保密义务', '[8,1,2,3]'),
	(3, 1, 2, 0, '', 0, 56, NULL, 'The tenant pays the rent on the first day of each month.', 'Lease', '''day'':4,21 ''deposit'':5 ''first'':7,20 ''leas'':1 ''month'':8,9,24 ''pay'':10,15 ''rent'':3,17 ''tenant'':11,14 ''two'':12', 16, '{}', '1d901fab05e8cc19edc6ec21b740c45f72f66e6380a03afd6ccaa20db72df032', 'The rent day deposit each first month months pays tenant two', '[56,1,2,3]'),
	(4, 1, 2, 1, '', 58, 90, NULL, 'The deposit is two months'' rent.', 'Lease', '''day'':4 ''deposit'':5,14 ''first'':7 ''leas'':1 ''month'':8,9,17 ''pay'':10 ''rent'':3,18 ''tenant'':11 ''two'':12,16', 14, '{}', '70b83075a187e3353f5300ee82247d79a8a2945337e7aa9e9bc7613274925c6e', 'The rent day deposit each first month months pays tenant two', '[32,1,2,3]'),
	(5, 3, 3, 0, '', 0, 30, NULL, 'ผู้เช่าต้องชำระค่าเช่าทุกเดือน', 'สัญญา', '''กเด'':2 ''ผู'':5 ''สัญญา'':1 ''องชำระค'':3,8 ''าต'':7 ''าทุกเดือน'':10 ''าเช'':4,9 ''เช'':6', 10, '{}', '0a66cf378acace459a1aa10dc97ece929f035ba787d70a460318f6bccf864a53', 'กเด องชำระค าเช', '[30,1,2,3]'),
	(6, 3, 4, 0, '', 0, 40, NULL, 'Die Kündigungsfrist beträgt drei Monate.', 'Mietvertrag', '''beträgt'':6,12 ''die'':2,10 ''drei'':7,13 ''gelten'':8 ''kündigungsfrist'':3,11 ''mietvertrag'':1 ''monat'':4,14 ''nda'':5 ''weiter'':9', 14, '{}', '19463c3076d439244a3ff1717ee68b2b6c810c4f264421ba706afde9f179f068', 'Die Kündigungsfrist Monate NDAs beträgt drei gelten weiter', '[40,1,2,3]'),
	(7, 3, 4, 1, '', 42, 65, NULL, 'Die NDAs gelten weiter.', 'Mietvertrag', '''beträgt'':6 ''die'':2,10 ''drei'':7 ''gelten'':8,12 ''kündigungsfrist'':3 ''mietvertrag'':1 ''monat'':4 ''nda'':5,11 ''weiter'':9,13', 13, '{}', 'ea8a3d700619225fe8315cf8fd87646578ee7961c6e15e3ad1bc0adeddd7bd3e', 'Die Kündigungsfrist Monate NDAs beträgt drei gelten weiter', '[23,1,2,3]');

INSERT INTO lexichord_data.configuration VALUES
	(true, 'plain', 'english');

INSERT INTO lexichord_data.corpus VALUES
	(true, 7, 75, 4, 43, 10.714285714285714);

INSERT INTO lexichord_data.dataset OVERRIDING SYSTEM VALUE VALUES
	(1, 'default', '2026-11-22 18:13:34.281868+00'),
	(3, 'other', '2026-11-22 18:13:34.46818+00');

INSERT INTO lexichord_data.document OVERRIDING SYSTEM VALUE VALUES
	(1, 1, 'contracts/保密协议.md', '保密协议', 'text/plain', 'f3b8352ff54cab916c675c770594fffcff98a374d3c6514e28de0c5425524c8e', 'chunked context=structural/2', '甲方应当对乙方的保密信息承担保密义务。

合同期限为三年。', '{}', 6, '2026-11-22 18:13:34.281868+00', '2026-11-22 18:13:34.281868+00'),
	(2, 1, 'leases/lease.md', 'Lease', 'text/plain', 'd578e0529c37b4aa6f38b0ee993f930ca22ed5b056ad559859efcfe05d927728', 'chunked context=structural/2', 'The tenant pays the rent on the first day of each month.

The deposit is two months'' rent.', '{}', 14, '2026-11-22 18:13:34.343536+00', '2026-11-22 18:13:34.343536+00'),
	(3, 3, 'th/สัญญา.md', 'สัญญา', 'text/plain', '6563b589780442a5b5798f830ceeb2cc491539922b3f08ec725e34bd48077a34', 'chunked context=structural/2', 'ผู้เช่าต้องชำระค่าเช่าทุกเดือน', '{}', 10, '2026-11-22 18:13:34.46818+00', '2026-11-22 18:13:34.46818+00'),
	(4, 3, 'de/mietvertrag.md', 'Mietvertrag', 'text/plain', '74a73a8f5caadfd2fcea9301169d8a640471d5269267f5ef72d2bfbe1ee7e200', 'chunked context=structural/2', 'Die Kündigungsfrist beträgt drei Monate.

Die NDAs gelten weiter.', '{}', 13, '2026-11-22 18:13:34.502886+00', '2026-11-22 18:13:34.502886+00');

INSERT INTO lexichord_data.embedding_space VALUES
	(true, 'test', 'tiny', 4);

INSERT INTO lexichord_data.function_release VALUES
	(true, '5c9b65eff3f71858407663a345b3a5d7843dd6f9b3c40183007572df44a05097', '0.1.0');

INSERT INTO lexichord_data.keyword VALUES
	(1, 1, '{1:1.1347349,2:1.1347349,3:1.4208795}/1000000000'),
	(2, 1, '{1:1.1347349,2:1.4208795,3:1.1347349}/1000000000'),
	(3, 2, '{4:1.2347283,5:0.91451675,6:1.2347283,7:0.91451675,8:1.3978812,9:1.2347283,10:1.2347283,11:1.2347283,12:0.91451675}/1000000000'),
	(4, 2, '{4:0.9450855,5:1.2622907,6:0.9450855,7:0.9450855,8:1.4213046,9:0.9450855,10:1.2622907,11:0.9450855,12:1.2622907}/1000000000'),
	(5, 3, '{13:1.0127932,14:1.0127932,15:1.0127932,16:1.3212795,17:1.0127932,18:1.0127932,19:1.3212795,20:1.0127932}/1000000000'),
	(6, 4, '{21:1.2622907,22:1.2622907,23:1.2622907,24:0.9450855,25:1.2622907,26:0.9450855,27:1.2622907,28:0.9450855,29:0.9450855}/1000000000'),
	(7, 4, '{21:0.96114933,22:1.2765386,23:0.96114933,24:1.2765386,25:0.96114933,26:0.96114933,27:0.96114933,28:1.2765386,29:1.2765386}/1000000000');

INSERT INTO lexichord_data.keyword_tail VALUES
	(1),
	(2),
	(3),
	(4),
	(5),
	(6),
	(7);

INSERT INTO lexichord_data.migration VALUES
	(1, 'ledger', '6083e0a0eafcb0e3b4fab00d0ed1412cba44abff69589bdafb805021f00b35d1', '2026-11-22 18:13:33.119614+00'),
	(2, 'document', '70a9e023dfb25f6e95c9462b977580a3ca67aa7c9aead14e2e0d60391967b497', '2026-11-22 18:13:33.119614+00'),
	(3, 'term', 'ca58185c82b08dc35a816664e64093223c3391f69af284ccc73623011cd707ea', '2026-11-22 18:13:33.119614+00'),
	(4, 'run', '6ce222dd58489f1769dc100024c513ce07d9f00b605da2dd318829514c679df6', '2026-11-22 18:13:33.119614+00'),
	(5, 'incremental', '7552fb9bd96edfa41f446aa22172aebb5e5589b1e5ccb848c7315dab2c8c340a', '2026-11-22 18:13:33.119614+00'),
	(6, 'query', '25d2bff08229336ba54506382bf59b7f448a52dd30fac9b0371ac7def6c89c20', '2026-11-22 18:13:33.119614+00'),
	(7, 'acronym', 'bad7937e78baccfdb6256508e8c33095d2f7102232f4147b222ad5c738f9b543', '2026-11-22 18:13:33.119614+00'),
	(8, 'evaluation', '96cead47c3c2317f390b5c119bd420c50e1e2d93c86b949292b726f710833750', '2026-11-22 18:13:33.119614+00'),
	(9, 'reembed', 'ab41230fec501f1c197d9679a348eb193a26643e96722855685771899a377dba', '2026-11-22 18:13:33.119614+00'),
	(10, 'chunk_context', '60b6431d71f7115f19b1b63bce56a054820c8d958dfdfa0857e980b80ff7f914', '2026-11-22 18:13:33.119614+00'),
	(11, 'api_key', 'be369a1a364a4e03b0de856e75e6dc0750e675d3398e6b19ef53a05ca88df637', '2026-11-22 18:13:33.119614+00'),
	(12, 'search_path', '91be29841efeee5d287f5d9955d2a4ee3989e12e7354dafd577c0e8a0c4c80e2', '2026-11-22 18:13:33.119614+00'),
	(13, 'keyword', 'aa41f5d0cc47ebbffc0c23a7df606c5ef70742fedb8a6cb9ed1de6c836164c04', '2026-11-22 18:13:33.119614+00');

INSERT INTO lexichord_data.run OVERRIDING SYSTEM VALUE VALUES
	(1, 'default', '', '2026-11-22 18:13:34.234915+00', '2026-11-22 18:13:34.406385+00', 2, '2026-11-22 18:13:34.363401+00'),
	(2, 'other', '', '2026-11-22 18:13:34.43324+00', '2026-11-22 18:13:34.549116+00', 2, '2026-11-22 18:13:34.519309+00');

INSERT INTO lexichord_data.run_file VALUES
	(1, 'contracts/保密协议.md', 'inserted', '', 2, '2026-11-22 18:13:34.281868+00'),
	(1, 'leases/lease.md', 'inserted', '', 2, '2026-11-22 18:13:34.343536+00'),
	(2, 'th/สัญญา.md', 'inserted', '', 1, '2026-11-22 18:13:34.46818+00'),
	(2, 'de/mietvertrag.md', 'inserted', '', 2, '2026-11-22 18:13:34.502886+00');

INSERT INTO lexichord_data.term OVERRIDING SYSTEM VALUE VALUES
	(1, '保密协议', 2),
	(2, '合同期限为三年', 2),
	(3, '甲方应当对乙方的保密信息承担保密义务', 2),
	(4, 'day', 2),
	(5, 'deposit', 2),
	(6, 'first', 2),
	(7, 'leas', 2),
	(8, 'month', 2),
	(9, 'pay', 2),
	(10, 'rent', 2),
	(11, 'tenant', 2),
	(12, 'two', 2),
	(13, 'กเด', 1),
	(14, 'ผู', 1),
	(15, 'สัญญา', 1),
	(16, 'องชำระค', 1),
	(17, 'าต', 1),
	(18, 'าทุกเดือน', 1),
	(19, 'าเช', 1),
	(20, 'เช', 1),
	(21, 'beträgt', 2),
	(22, 'die', 2),
	(23, 'drei', 2),
	(24, 'gelten', 2),
	(25, 'kündigungsfrist', 2),
	(26, 'mietvertrag', 2),
	(27, 'monat', 2),
	(28, 'nda', 2),
	(29, 'weiter', 2);

SELECT pg_catalog.setval('lexichord_data.api_key_id_seq', 1, false);

SELECT pg_catalog.setval('lexichord_data.chunk_id_seq', 7, true);

SELECT pg_catalog.setval('lexichord_data.dataset_id_seq', 4, true);

SELECT pg_catalog.setval('lexichord_data.document_id_seq', 4, true);

SELECT pg_catalog.setval('lexichord_data.evaluation_id_seq', 1, false);

SELECT pg_catalog.setval('lexichord_data.evaluation_set_id_seq', 1, false);

SELECT pg_catalog.setval('lexichord_data.query_id_seq', 1, false);

SELECT pg_catalog.setval('lexichord_data.reembedding_id_seq', 1, false);

SELECT pg_catalog.setval('lexichord_data.run_id_seq', 2, true);

SELECT pg_catalog.setval('lexichord_data.term_id_seq', 29, true);

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

ALTER TABLE ONLY lexichord_data.term
    ADD CONSTRAINT term_lexeme_key UNIQUE (lexeme);

ALTER TABLE ONLY lexichord_data.term
    ADD CONSTRAINT term_pkey PRIMARY KEY (id);

CREATE INDEX card_term_document ON lexichord_data.card_term USING btree (document_id);

CREATE INDEX chunk_context_document ON lexichord_data.chunk_context USING btree (dataset_id, uri);

CREATE INDEX chunk_hnsw ON lexichord_data.chunk USING hnsw (embedding public.halfvec_cosine_ops);

CREATE INDEX document_metadata ON lexichord_data.document USING gin (metadata);

CREATE INDEX document_source ON lexichord_data.document USING btree (dataset_id, sha256);

CREATE INDEX document_uri ON lexichord_data.document USING btree (uri text_pattern_ops);

CREATE INDEX evaluation_set_id ON lexichord_data.evaluation USING btree (set_id);

CREATE INDEX judgment_query ON lexichord_data.judgment USING btree (set_id, query_id);

CREATE INDEX keyword_document ON lexichord_data.keyword USING btree (document_id);

CREATE INDEX posting_term ON lexichord_data.posting USING btree (term_id, impact DESC);

CREATE INDEX query_asked_at ON lexichord_data.query USING btree (asked_at);

CREATE UNIQUE INDEX reembedding_open ON lexichord_data.reembedding USING btree ((true)) WHERE (state <> 'dropped'::text);

CREATE INDEX run_file_uri ON lexichord_data.run_file USING btree (uri);

CREATE TRIGGER add_to_tail AFTER INSERT ON lexichord_data.keyword REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION lexichord_data.add_to_tail();

CREATE TRIGGER count_deleted AFTER DELETE ON lexichord_data.chunk REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION lexichord_data.count_chunks();

CREATE TRIGGER count_document BEFORE INSERT OR DELETE OR UPDATE OF card_length ON lexichord_data.document FOR EACH ROW EXECUTE FUNCTION lexichord_data.count_document();

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

