-- Which engine: plain needs pgvector alone, textsearch pg_textsearch 1.4 or later, whose earlier releases lose hits.
alter table lexichord_data.configuration drop constraint configuration_engine_check;
update lexichord_data.configuration set engine = case
    when (select string_to_array(e.extversion, '.')::int[] >= '{1,4}' from pg_extension e where e.extname = 'pg_textsearch')
    then 'textsearch' else 'plain' end
where engine = 'pgvector';
alter table lexichord_data.configuration
    add constraint configuration_engine_check check (engine in ('plain', 'textsearch', 'vectorchord'));

-- The mean length of a chunk, in lexemes, by which the stored impacts were made; null = there are none.
alter table lexichord_data.corpus add column average_length double precision;

-- Chunks that no segment of the keyword index holds yet: a search scores each of them.
create table lexichord_data.keyword_tail (chunk_id bigint primary key);

-- The sealed parts of a keyword index that gets no row after it was built. A superseded one is in another.
create table lexichord_data.keyword_segment (
    number     integer primary key,
    chunks     bigint not null,
    superseded boolean not null default false
);

-- How large the table was when a vector index was built: some have settings that depend on it.
create table if not exists lexichord_data.index_build (
    index_name text primary key,
    chunks     bigint not null,
    last_chunk bigint not null
);

-- What guarded indexes that lost rows: none is written to any more.
drop trigger if exists mark_unsaved on lexichord_data.chunk;
drop trigger if exists fill_keyword_vector on lexichord_data.chunk;
drop function if exists lexichord_data.mark_unsaved_keywords(), lexichord_data.fill_keyword_vector(),
    lexichord_data.server_epoch();
drop table if exists lexichord_data.unsaved_keywords;
drop index if exists lexichord_data.chunk_bm25, lexichord_data.chunk_keyword;
alter table lexichord_data.chunk drop column if exists keyword_text, drop column if exists keyword_vector;
