-- Idempotent: the columns of this engine and what its indexes are built by. They are built by build_indexes.

-- Lexemes as the text of a bm25vector, {term id:times,...}; unknown ones are left out, null = none is known.
-- "offset 0" has each looked up: a join would read all terms where keyword_candidates has sorting switched off.
create or replace function lexichord_data.lexeme_vector(lexemes tsvector) returns text
language sql stable strict parallel safe set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select '{' || string_agg(t.id || ':' || cardinality(u.positions), ',' order by t.id) || '}'
    from unnest(lexemes) as u, lateral (select t.id from term t where t.lexeme = u.lexeme offset 0) as t
$$;

-- Before the row, although count_inserted makes the ids after the statement: an update of the new rows would
-- leave a dead copy of each in both indexes. So the terms are added here, with no change in df, which
-- count_inserted still adds. The corpus row is locked first, as by every writer: one order, no deadlock.
create or replace function lexichord_data.fill_keyword_vector() returns trigger
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    names text[] := tsvector_to_array(new.lexemes);
begin
    perform from corpus for no key update;
    perform lexichord_data.add_terms(names, array_fill(0::bigint, array[cardinality(names)]));
    new.keyword_vector := lexichord_data.lexeme_vector(new.lexemes)::@extschema:vchord_bm25@.bm25vector;
    return new;
end $$;

create or replace trigger fill_keyword_vector before insert or update of lexemes on lexichord_data.chunk
    for each row execute function lexichord_data.fill_keyword_vector();

-- Changes whenever the server went down uncleanly: only then are the statistics lost.
create or replace function lexichord_data.server_epoch() returns timestamptz
language sql stable parallel safe set search_path = pg_catalog, pg_temp as $$
    select pg_stat_get_bgwriter_stat_reset_time()
$$;

-- In 9 of 206 crashes amid writes (in none of 127 after a build alone) vchord_bm25 0.3.0 left the keyword index so that
-- each scan of it took the whole server down: "range end index 8 out of range". Built again it was right each time.
-- A row here says in which epoch rows came after the index was built.
create table if not exists lexichord_data.unsaved_keywords (epoch timestamptz not null);

create or replace function lexichord_data.mark_unsaved_keywords() returns trigger
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
begin
    if to_regclass('chunk_keyword') is not null then
        insert into unsaved_keywords
        select e from server_epoch() as e where not exists (select from unsaved_keywords u where u.epoch = e);
    end if;
    return null;
end $$;

create or replace trigger mark_unsaved after insert or update or delete on lexichord_data.chunk
    for each statement execute function lexichord_data.mark_unsaved_keywords();

-- How large the table was when an index was built.
create table if not exists lexichord_data.index_build (
    index_name text primary key,
    chunks     bigint not null,
    last_chunk bigint not null
);

-- So many rows may wait unpacked in the keyword index beside packed ones. Beside 100k of these, 2,000 cost a query nothing
-- that shows, 5,000 a sixth more, 10,000 twice and 20,000 four times the time; a build takes 1.5 s.
create or replace function lexichord_data.tolerable_unpacked(chunks bigint) returns bigint
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
    select greatest(2000, chunks / 20)
$$;

-- 100k vectors of 384, milliseconds and recall@100, everywhere / within a tenth of the documents: without lists
-- 3.7 .999 / 7.3 .999; 100 lists, 25 probed 1.6 .993 / 2.8 .996; 200, 25 1.2 .995 / 2.3 .992; 200, 50 1.3 .995 / 2.5 .996;
-- 400, 50 .8 .997 / 1.5 .993. Above that a sixteenth, and fewer lists a chunk, as vchord's documentation advises.
create or replace function lexichord_data.dense_storage(chunks bigint) returns text
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
    select case when chunks >= 50000 then format(
        E'with (options = $o$residual_quantization = true\n[build.internal]\nlists = [%s]\nspherical_centroids = true$o$, probes = ''%s'')',
        lists, greatest(lists / 16, 50)) else '' end
    from (select least(chunks / 500, (4 * sqrt(chunks))::bigint)) as n (lists)
$$;

-- The probes that the vector index was made for, and its lists, which are also what probes all of them.
create or replace function lexichord_data.dense_probes(out probes text, out lists text)
language sql stable parallel safe set search_path = pg_catalog, pg_temp as $$
    select coalesce(max(substring(o from '^probes=(.*)')), max(l.lists), ''), coalesce(max(l.lists), '')
    from pg_class c, unnest(c.reloptions) as o, lateral (select substring(o from 'lists *= *\[([^]]+)\]')) as l (lists)
    where c.oid = to_regclass('lexichord_data.chunk_dense')
$$;

-- Beside the old index, so that searches wait for the exchange only. No writer is under way then, because each holds
-- the corpus row: one that has read the table and goes on to write would be in a deadlock with the exchange.
create or replace function lexichord_data.build_index(name text) returns void
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp set client_min_messages = warning as $$
declare
    chunks bigint := (select n.chunk_count from corpus n for no key update);
begin
    execute format('create index %I on chunk using %s', name || '_new', case name
        when 'chunk_dense' then 'vchordrq (embedding @extschema:vchord@.halfvec_cosine_ops) ' || lexichord_data.dense_storage(chunks)
        when 'chunk_keyword' then 'bm25 (keyword_vector @extschema:vchord_bm25@.bm25_ops)' end);
    execute format('drop index if exists %I', name);
    execute format('alter index %I rename to %I', name || '_new', name);
    insert into index_build (index_name, chunks, last_chunk)
    select name, chunks, coalesce(max(c.id), 0) from chunk c
    on conflict (index_name) do update set chunks = excluded.chunks, last_chunk = excluded.last_chunk;
    delete from unsaved_keywords where name = 'chunk_keyword';
end $$;

do $$
declare
    space lexichord_data.embedding_space;
begin
    select * into strict space from lexichord_data.embedding_space;
    execute format('alter table lexichord_data.chunk add column if not exists embedding @extschema:vector@.halfvec(%s)', space.dimension);
    -- Kept in the row, as on the other engine: exact scoring of narrow scopes reads it there.
    if space.dimension <= 1536 then
        alter table lexichord_data.chunk alter column embedding set storage plain;
    end if;
    alter table lexichord_data.chunk add column if not exists keyword_vector @extschema:vchord_bm25@.bm25vector;
    -- Rows from before the trigger; a chunk without lexemes has no vector.
    update lexichord_data.chunk set lexemes = lexemes where keyword_vector is null and lexemes <> ''::tsvector;
end $$;
