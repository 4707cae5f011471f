-- The whole state of release 1.0.0, topic by topic; later migrations go on from here. The unreleased ones before it were
-- 0001 to 0035: a database that has them all is at this one (see take_on in db/schema.py).
create schema if not exists lexichord_data;

-- LEDGER AND CONFIGURATION

-- The ledger of applied migrations, and of the functions that were installed last.
create table lexichord_data.migration (
    number     integer primary key,
    name       text not null,
    sha256     text not null,
    applied_at timestamptz not null default now()
);

-- One row: which program last (re)placed the functions of schema lexichord.
create table lexichord_data.function_release (
    only_row boolean primary key default true check (only_row),
    sha256   text not null,
    version  text not null
);

-- One row: what `init` chose for good. The analyzer and the engine never change afterwards. Which engine: plain needs
-- pgvector alone, textsearch pg_textsearch 1.4 or later, whose earlier releases lose hits.
create table lexichord_data.configuration (
    only_row    boolean primary key default true check (only_row),
    engine      text not null check (engine in ('plain', 'textsearch', 'vectorchord')),
    text_config regconfig not null,
    -- What the texts of ids outside the database are made with. A dump has it, so that they stay what they are.
    id_secret   uuid not null default gen_random_uuid(),
    -- Whether the language of each document is told and gives its text configuration, or text_config is that of all.
    by_document boolean not null default false,
    has_tenants boolean not null default false
);

-- One row: the space that every stored vector lives in. What an engine's index takes is the engine's to say:
-- lexichord.most_dimensions().
create table lexichord_data.embedding_space (
    only_row   boolean primary key default true check (only_row),
    provider   text not null,
    model      text not null,
    dimension  integer not null check (dimension between 1 and 16000),
    -- Whether nobody named the space: then the first ingest takes the best model that is on the machine for its languages.
    is_default boolean not null default false
);

-- TENANTS

-- Tenants share a database and learn nothing of each other. Nothing of this is in force until lexichord.turn_tenants_on():
-- until then there is no policy, and is_bound and own_datasets are constants that plans do not show.
create table lexichord_data.tenant (
    id         bigint generated always as identity primary key,
    name       text not null unique check (name <> ''),
    created_at timestamptz not null default now()
);

-- Whose SQL role belongs to which tenant. By name: roles are the server's, and not in a dump of the database.
create table lexichord_data.tenant_role (
    role_name  name primary key,
    tenant_id  bigint not null references lexichord_data.tenant on delete cascade,
    principals text[] not null default '{}'
);

-- Whether the caller is bound to a tenant, and to which datasets by that; null = the caller sees all.
create function lexichord_data.is_bound() returns boolean
language sql immutable parallel safe
return false;
create function lexichord_data.own_datasets() returns bigint[]
language sql immutable parallel safe
return null::bigint[];

create function lexichord_data.own_principals() returns text[]
language plpgsql stable parallel safe security definer set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    caller name := coalesce(nullif(current_setting('role'), 'none'), session_user);
begin
    if pg_has_role(caller, to_regrole('lexichord_server'), 'usage') then
        return nullif(current_setting('lexichord.principals', true), '')::text[];
    end if;
    return (select r.principals from tenant_role r where r.role_name = caller);
end $$;

-- DATASETS AND DOCUMENTS

create table lexichord_data.dataset (
    id         bigint generated always as identity primary key,
    name       text not null unique check (name <> ''),
    created_at timestamptz not null default now(),
    tenant_id  bigint references lexichord_data.tenant on delete set null,
    -- What others than lexichord say of a dataset: the name, description and metadata of a vector store.
    details    jsonb not null default '{}' check (jsonb_typeof(details) = 'object')
);
create index dataset_tenant on lexichord_data.dataset (tenant_id);

create table lexichord_data.document (
    id               bigint generated always as identity primary key,
    dataset_id       bigint not null references lexichord_data.dataset on delete cascade,
    uri              text not null check (uri <> ''),
    title            text not null,
    media_type       text not null,
    sha256           text not null check (sha256 ~ '^[0-9a-f]{64}$'),
    recipe           text not null,
    text             text not null,
    metadata         jsonb not null default '{}' check (jsonb_typeof(metadata) = 'object'),
    card_length      integer not null default 0,
    created_at       timestamptz not null default now(),
    updated_at       timestamptz not null default now(),
    text_config      regconfig,  -- of the document's language; null = the database's
    principals       text[],     -- who may see it among those who reach its dataset; null = all of them, {} = nobody
    -- The analyzer that made its lexemes, as lexichord.analyzer_version() numbers them. lexichord.analyze_documents() makes
    -- older ones anew, some documents at a time, while searches and ingests go on.
    analyzer_version smallint not null default 1,
    unique (dataset_id, uri),
    unique (id, dataset_id)
);
create index document_metadata on lexichord_data.document using gin (metadata);
create index document_uri on lexichord_data.document (uri text_pattern_ops);
-- A renamed or copied file is found by the digest of its bytes.
create index document_source on lexichord_data.document (dataset_id, sha256);
create index document_text_config on lexichord_data.document (text_config);
create index document_analyzer_version on lexichord_data.document (analyzer_version);

-- Of metadata the key "principals", a text or a list of texts.
create function lexichord_data.fill_principals() returns trigger
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
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
end $$;

-- The bytes that a document was read from, where they were to be kept; most kinds of files are compressed already.
create table lexichord_data.original (
    document_id bigint primary key references lexichord_data.document on delete cascade,
    sha256      text not null check (sha256 ~ '^[0-9a-f]{64}$'),
    content     bytea not null
);
alter table lexichord_data.original alter column content set storage external;

-- CHUNKS

-- document.text[char_start:char_end] = content, counted in characters from 0. The column of its vector comes with the
-- engine's extension: sql/state/embedding.sql.
create table lexichord_data.chunk (
    id              bigint generated always as identity primary key,
    dataset_id      bigint not null,
    document_id     bigint not null,
    ordinal         integer not null,
    heading         text not null default '',
    char_start      integer not null check (char_start >= 0),
    char_end        integer not null check (char_end >= char_start),
    page            integer,
    content         text not null,
    context         text not null default '',
    lexemes         tsvector not null,
    token_count     integer not null,
    metadata        jsonb not null default '{}',
    content_hash    text not null,             -- of heading and content
    keyword_context text not null default '',  -- what only the keyword index sees beside the content; context is embedded as well
    unique (document_id, ordinal),
    foreign key (document_id, dataset_id)
        references lexichord_data.document (id, dataset_id) on delete cascade
);

-- What a language model wrote of a chunk, so that it is not paid for twice. Under the name of a document,
-- which need not be stored yet: with it goes, when it is deleted, what was written of all its versions.
create table lexichord_data.chunk_context (
    key        text not null,                  -- a digest of what the text depends on
    dataset_id bigint not null references lexichord_data.dataset on delete cascade,
    uri        text not null,
    context    text not null check (context <> ''),
    made_at    timestamptz not null default now(),
    primary key (key, dataset_id, uri)
);
create index chunk_context_document on lexichord_data.chunk_context (dataset_id, uri);

create function lexichord_data.forget_contexts() returns trigger
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
begin
    delete from chunk_context c using gone g where (c.dataset_id, c.uri) = (g.dataset_id, g.uri);
    return null;
end $$;
create trigger forget_contexts after delete on lexichord_data.document
    referencing old table as gone for each statement execute function lexichord_data.forget_contexts();

-- VECTORS

-- Changes of the embedding space, one row each. Until one is dropped there is a column chunk.other_embedding:
-- the new vectors while they are filled in, after the swap the old ones.
create table lexichord_data.reembedding (
    id         bigint generated always as identity primary key,
    old_space  text not null,
    new_space  text not null,
    provider   text not null,                    -- of the vectors in other_embedding
    model      text not null,
    dimension  integer not null,
    state      text not null default 'filling' check (state in ('filling', 'swapped', 'dropped')),
    embedded   bigint not null default 0,        -- vectors filled in, the old space's after a swap as well
    comparison jsonb,                            -- a sample of queries, old against new; null = none yet
    started_at timestamptz not null default now(),
    seen_at    timestamptz not null default now(),
    swapped_at timestamptz
);
create unique index reembedding_open on lexichord_data.reembedding ((true)) where state <> 'dropped';

-- A vector that was filled in for other words is none. The trigger is there as long as the column.
create function lexichord_data.forget_other_vector() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
    new.other_embedding := null;
    return new;
end $$;

-- How large the table was when a vector index was built: some have settings that depend on it.
create table lexichord_data.index_build (
    index_name text primary key,
    chunks     bigint not null,
    last_chunk bigint not null
);

-- What tells answerable questions from others by vectors, as fitted on questions of the user's: of one embedding space.
create table lexichord_data.calibration (
    space     text primary key,
    constant  double precision not null,
    cosine    double precision not null,
    passage   double precision not null,
    holds     double precision[] not null,  -- confidences of questions that it was not fitted on, with an answer
    lacks     double precision[] not null,  -- and without one
    fitted_at timestamptz not null default now()
);

-- Where the cosines of an embedding space lie, by a sample of what is stored: what confidence by vectors of any model goes by.
create table lexichord_data.cosine_scale (
    space       text primary key,
    unlike      double precision not null,  -- mean cosine of a sentence, asked as a question, with those of other chunks
    alike       double precision not null check (alike > unlike),  -- and with itself
    sentences   integer not null,           -- in the sample
    chunks      bigint not null,            -- that were stored when it was measured
    measured_at timestamptz not null default now()
);

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

-- TERMS AND STATISTICS

-- Statistics for exact BM25 and for relevance feedback. Triggers keep them true inside the writer's own transaction, whoever
-- writes.

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
    card_token_count bigint not null default 0,
    -- The mean length of a chunk, in lexemes, by which the stored impacts were made; null = there are none.
    average_length   double precision
);
insert into lexichord_data.corpus default values;

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
create function lexichord_data.join_writers() returns void
language sql set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select pg_advisory_xact_lock_shared(hashtextextended('lexichord.write', 0))
$$;

-- In one order, so that two writers of the same new lexemes wait, but not for each other. Known ones are not inserted
-- again, because a conflict would burn an id.
create function lexichord_data.add_terms(lexemes text[]) returns void
language sql set search_path = pg_catalog, lexichord_data, pg_temp as $$
    insert into term (lexeme)
    select distinct c.lexeme collate "C" from unnest(lexemes) as c (lexeme)
    where not exists (select from term t where t.lexeme = c.lexeme)
    order by 1
    on conflict (lexeme) do nothing
$$;

create function lexichord_data.count_chunks() returns trigger
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

create trigger count_inserted after insert on lexichord_data.chunk
    referencing new table as changed for each statement execute function lexichord_data.count_chunks();
create trigger count_deleted after delete on lexichord_data.chunk
    referencing old table as changed for each statement execute function lexichord_data.count_chunks();

create function lexichord_data.count_document() returns trigger
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
create trigger count_document after insert or update of card_length, dataset_id
    on lexichord_data.document for each row execute function lexichord_data.count_document();
create trigger count_deleted before delete
    on lexichord_data.document for each row execute function lexichord_data.count_document();

-- A tenant's statistics are its own: what others store changes no score of its.
create function lexichord_data.own_statistics(
    out chunk_count bigint, out token_count bigint, out document_count bigint, out card_token_count bigint, out average_length double precision)
language plpgsql stable parallel safe security definer set search_path = pg_catalog, lexichord_data, pg_temp as $$
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

-- KEYWORDS: the tables and triggers of an engine's own are in sql/state/keyword.sql and sql/engine/

-- Chunks that no segment of the keyword index holds yet: a search scores each of them.
create table lexichord_data.keyword_tail (chunk_id bigint primary key);

-- The sealed parts of a keyword index that gets no row after it was built. A superseded one is in another.
create table lexichord_data.keyword_segment (
    number     integer primary key,
    chunks     bigint not null,
    superseded boolean not null default false
);

-- RUNS

create table lexichord_data.run (
    id          bigint generated always as identity primary key,
    dataset     text not null,
    source      text not null,
    started_at  timestamptz not null default now(),
    finished_at timestamptz,
    total       integer not null default 0,          -- files that the run has to do
    seen_at     timestamptz not null default now(),  -- its latest sign of life
    -- How far the files are that an ingest has at hand: {uri: {"chunks": …, "embedded": …}}.
    in_progress jsonb not null default '{}' check (jsonb_typeof(in_progress) = 'object')
);

-- unread = files that an ingest came across and whose kind cannot be read.
create table lexichord_data.run_file (
    run_id      bigint not null references lexichord_data.run on delete cascade,
    uri         text not null,
    status      text not null check (status in ('inserted', 'replaced', 'skipped', 'failed', 'deleted', 'unread')),
    reason      text not null default '',
    chunks      integer not null default 0,
    finished_at timestamptz not null default now(),
    primary key (run_id, uri)
);
create index run_file_uri on lexichord_data.run_file (uri);

-- FILES THAT ARE SENT

-- Files that are sent before a dataset is named, as OpenAI's clients send them; stored in a dataset they become documents
-- below upload://DATASET/ID/.
create table lexichord_data.file (
    id         text primary key check (id ~ '^file-[0-9a-f]{24}$'),
    name       text not null check (name <> ''),
    media_type text not null,
    purpose    text not null,
    content    bytea not null,
    sha256     text not null generated always as (encode(sha256(content), 'hex')) stored,
    byte_count bigint not null generated always as (length(content)) stored,
    datasets   text[], -- what the key of who sent it reached; null = all
    created_at timestamptz not null default clock_timestamp()
);
alter table lexichord_data.file alter column content set storage external;

create table lexichord_data.dataset_file (
    dataset_id bigint not null references lexichord_data.dataset on delete cascade,
    file_id    text not null references lexichord_data.file on delete cascade,
    run_id     bigint references lexichord_data.run on delete set null,
    attributes jsonb not null default '{}' check (jsonb_typeof(attributes) = 'object'),
    created_at timestamptz not null default clock_timestamp(),
    primary key (dataset_id, file_id)
);
create index dataset_file_file on lexichord_data.dataset_file (file_id);
create index dataset_file_run on lexichord_data.dataset_file (run_id);

-- QUERIES AND EVALUATIONS

-- Recorded queries: off by default, and without a word of the question unless its text is to be kept.
-- Nothing here refers to documents: a record outlives a re-ingest, so each hit says where it stood.
create table lexichord_data.query (
    id         bigint generated always as identity primary key,
    asked_at   timestamptz not null default now(),
    version    text not null,             -- lexichord's
    space      text,                      -- null = searched by words alone
    datasets   text[] not null,           -- {} = all
    narrowed   boolean not null,          -- by documents, a uri's beginning or a filter
    hinted     boolean not null,
    text       text,                      -- null = not to be kept
    hint       text,
    intent     text not null,
    confidence double precision not null,
    abstained  boolean not null,
    coverage   double precision,          -- null = not measured
    ms         double precision,          -- from question to response; null = not measured
    counts     jsonb not null,            -- of files, quotes, ...
    stages     jsonb not null,            -- names, milliseconds and counts, in the order in which they ended
    phrase     jsonb,                     -- that a reader marked in the answer: uri, char_start, char_end
    check (text is not null or hint is null),
    check (hinted or hint is null)
);
create index query_asked_at on lexichord_data.query (asked_at);

create table lexichord_data.query_hit (
    query_id   bigint not null references lexichord_data.query on delete cascade,
    rank       integer not null,
    chunk_id   bigint not null,           -- as it was then
    dataset    text not null,
    uri        text not null,
    char_start integer not null,
    char_end   integer not null,
    score      double precision not null,
    scores     jsonb not null,
    ranks      jsonb not null,
    primary key (query_id, rank)
);

-- Evaluations: sets of questions with what answers them, and what strategies made of each question.
-- Nothing here refers to documents: they were in a scratch database, so places are uris and offsets.
create table lexichord_data.evaluation_set (
    id      bigint generated always as identity primary key,
    name    text not null,
    digest  text not null,                  -- of the questions and judgments: a changed set is another
    kept_at timestamptz not null default now(),
    unique (name, digest)
);

create table lexichord_data.evaluation_query (
    set_id     bigint not null references lexichord_data.evaluation_set on delete cascade,
    query_id   text not null,               -- as the set names it
    place      integer not null,            -- in the set, from 1
    text       text not null,
    hint       text,
    intent     text,
    answerable boolean not null,
    primary key (set_id, query_id)
);

create table lexichord_data.judgment (
    set_id      bigint not null,
    query_id    text not null,
    kind        text not null check (kind in ('file', 'span', 'chunk', 'grade', 'entity')),
    uri         text,                       -- of all but entities
    char_start  integer,                    -- of a span
    char_end    integer,
    ordinal     integer,                    -- of a chunk in its document, from 0
    grade       integer,                    -- of a document, above 0 is relevant
    entity_type text,
    variants    text[],                     -- of one entity
    critical    boolean,                    -- an answer cannot do without the type
    foreign key (set_id, query_id) references lexichord_data.evaluation_query on delete cascade
);
create index judgment_query on lexichord_data.judgment (set_id, query_id);

create table lexichord_data.evaluation (
    id          bigint generated always as identity primary key,
    set_id      bigint not null references lexichord_data.evaluation_set,
    strategy    text not null,
    settings    jsonb not null,             -- how the documents were ingested and asked
    ks          integer[] not null,
    qps         jsonb not null,             -- queries/s by number of clients
    version     text not null,              -- lexichord's
    started_at  timestamptz not null
);
create index evaluation_set_id on lexichord_data.evaluation (set_id);

create table lexichord_data.evaluation_result (
    evaluation_id bigint not null references lexichord_data.evaluation on delete cascade,
    query_id      text not null,
    ms            double precision not null, -- from question to result
    passages      jsonb not null,            -- uri, start, end, number, score; best first
    files         text[] not null,           -- uris, best first
    answer        text not null,
    confidence    double precision,
    abstained     boolean not null,
    error         text,                      -- null = it did not fail
    metrics       jsonb not null,            -- by name; null = nothing of that kind was judged
    primary key (evaluation_id, query_id)
);

-- KEYS

-- Who may ask over the network. The secret itself is kept nowhere: 256 random bits need no slow hash. Keys end, are renewed,
-- may read, write and delete apart, and are asked with so many requests a minute.
create table lexichord_data.api_key (
    id                  bigint generated always as identity primary key,
    name                text not null check (name <> ''),
    digest              bytea not null unique check (octet_length(digest) = 32),  -- SHA-256 of the secret
    datasets            text[] check (cardinality(datasets) > 0),                 -- null = all, also later ones
    writes              boolean not null,
    created_at          timestamptz not null default now(),
    revoked_at          timestamptz,
    reads               boolean not null default true,
    deletes             boolean not null,
    requests_per_minute integer check (requests_per_minute > 0),  -- null = any number
    lasts               interval check (lasts > interval '0'),    -- null = for good
    expires_at          timestamptz,
    last_used_at        timestamptz,
    renews              bigint references lexichord_data.api_key,  -- until that one ends both are valid
    tenant_id           bigint references lexichord_data.tenant on delete set null,
    principals          text[] not null default '{}',
    check (reads or writes or deletes),
    check (tenant_id is null or not (writes or deletes))
);
create unique index api_key_renews on lexichord_data.api_key (renews) where revoked_at is null;
revoke all on lexichord_data.api_key from public;

-- What keys were used for: no word of a question unless it is to be kept.
create table lexichord_data.api_call (
    id        bigint generated always as identity primary key,
    key_id    bigint not null references lexichord_data.api_key on delete cascade,
    called_at timestamptz not null,
    kind      text not null,
    datasets  text[],            -- null = all
    status    smallint not null,  -- HTTP's
    query     text               -- null = none, or not to be kept
);
create index api_call_called_at on lexichord_data.api_call (called_at);
revoke all on lexichord_data.api_call from public;

-- SHARDS

-- Shards: each a complete database. The home one lists them; each keeps how much the others hold, so that what is rare is
-- rare among all documents, and a score means the same on every shard.
create table lexichord_data.shard (
    number     integer primary key check (number between 1 and 31),  -- of 64 bits of an id 48 count: see shard_of in types/ids.py
    dsn        text not null unique check (dsn <> ''),                -- without a password
    added_at   timestamptz not null default now(),
    is_leaving boolean not null default false                       -- gets no new documents
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

-- Of all shards: what is here, by the views above, and what was elsewhere when shards were last told.
create view lexichord_data.global_statistics with (security_invoker = true) as
select n.chunk_count + e.chunk_count as chunk_count, n.token_count + e.token_count as token_count,
       n.document_count + e.document_count as document_count, n.card_token_count + e.card_token_count as card_token_count,
       n.average_length
from lexichord_data.corpus_statistics n, lexichord_data.own_elsewhere e;
create view lexichord_data.global_term_statistics with (security_invoker = true) as
select t.id, t.lexeme, t.df + coalesce((select e.df from lexichord_data.own_term_elsewhere e where e.lexeme = t.lexeme), 0) as df
from lexichord_data.term_statistics t;

-- Documents move between shards. The home keeps what answers have to know: that some move, and which are just being
-- switched from one shard to another.
create table lexichord_data.shard_move (
    is_only     boolean primary key default true check (is_only),
    switches    bigint not null default 0,  -- grows when a switch begins, and when it ends
    mover       uuid,                       -- who moves, or did when it was cut off
    last_number integer not null default 0, -- that a shard was given: ids name it, and so no other gets it
    source      integer,                    -- of the switch that has begun and not ended
    target      integer,
    documents   bigint[],
    check ((documents is null) = (source is null) and (documents is null) = (target is null))
);
insert into lexichord_data.shard_move default values;

-- TABLES OF USERS that are indexed row by row: how a row becomes a document, what changed, what failed.

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
create function lexichord_data.current_columns(source lexichord_data.indexed_table, names text[]) returns text[]
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select coalesce(array_agg((
        select a.attname::text from pg_attribute a
        where a.attrelid = source.relation and a.attnum > 0 and not a.attisdropped
          and case when source.relation_oid = source.relation::oid then a.attnum = (source.numbers ->> u.name)::smallint
                   else a.attname = u.name end) order by u.place), '{}')
    from unnest(names) with ordinality as u (name, place)
$$;

-- What a key's column is compared and written as: the type below a domain.
create function lexichord_data.key_type(relation regclass, name text) returns regtype
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
create function lexichord_data.key_expression(relation regclass, names text[], row_name text) returns text
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
create function lexichord_data.key_values(relation regclass, names text[], key text) returns text
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select string_agg(format('(%s)::%s',
               case when cardinality(names) = 1 then key else format('%s::jsonb ->> %s', key, u.place - 1) end,
               lexichord_data.key_type(relation, u.name)), ', ' order by u.place)
    from unnest(names) with ordinality as u (name, place)
$$;

create function lexichord_data.row_columns(names text[], row_name text) returns text
language sql immutable set search_path = pg_catalog, pg_temp as $$
    select string_agg(format('%s.%I', row_name, u.name), ', ' order by u.place) from unnest(names) with ordinality as u (name, place)
$$;

-- The columns but its key that a row's document is made of, as far as they are there.
create function lexichord_data.compared_columns(source lexichord_data.indexed_table) returns text[]
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select array(select distinct c.name from unnest(lexichord_data.current_columns(
        source, source.content || source.title || source.context || source.metadata || source.filter_columns)) as c (name)
        where c.name is not null)
$$;

create function lexichord_data.add_change(table_id integer, keys text[]) returns void
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
begin
    insert into table_change (table_id, keys) values (add_change.table_id, add_change.keys);
    if exists (select from worker w where w.resting_until > clock_timestamp()) then
        notify lexichord;
    end if;
end $$;

-- The triggers run as the owner, so that who writes into the table needs no right on ours; so nothing of the user's is
-- called here: keys are of Postgres' own types, other columns are compared by their bytes.

-- Of an update's rows as many are compared by its trigger; comparing more would take its writer too long. Changes of more
-- rows wait for what somebody just wrote.
create function lexichord_data.most_compared_rows() returns integer
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$ select 100 $$;

-- The keys of inserted, of deleted and of updated rows: of these the keys where values differ, and whether there are too
-- many to compare them all. null = the key is gone.
create function lexichord_data.table_statements(source lexichord_data.indexed_table) returns text[]
language plpgsql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
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
end $$;

-- The function that a table's triggers call, by the names that its columns have by now. It depends on none of them, which
-- would keep them from being dropped or changed; where they no longer are what they were, it asks by what they are.
create function lexichord_data.make_queue_function(source lexichord_data.indexed_table) returns void
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp set standard_conforming_strings = on as $make$
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
end $make$;

create function lexichord_data.owns_queue_function(table_id integer) returns boolean
language sql stable set search_path = pg_catalog, pg_temp as $$
    select coalesce((select pg_has_role(p.proowner, 'usage') from pg_proc p
                     where p.oid = to_regprocedure(format('lexichord_data.queue_changes_%s()', table_id))), false)
$$;

-- Of a partitioned table: a statement's triggers do not see what is written into a partition itself.
create function lexichord_data.queue_row() returns trigger
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
create function lexichord_data.hidden_documents() returns setof bigint
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

-- RIGHTS

-- Not of the others: each search asks them, also of roles that were given their rights one by one, and they tell whoever
-- asks what is its own.
revoke execute on function lexichord_data.own_statistics(), lexichord_data.fill_principals()
from public;
