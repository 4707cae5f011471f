-- Idempotent: the columns of this engine and the guard of its keyword index. The indexes are build_indexes'.

-- Each lexeme as often as it occurs: what the BM25 index reads, under the configuration `simple`,
-- so that nothing is stemmed twice.
create or replace function lexichord_data.lexeme_text(lexemes tsvector) returns text
language sql immutable strict parallel safe set search_path = pg_catalog, pg_temp as $$
    select coalesce(string_agg(repeat(lexeme || ' ', cardinality(positions)), '' order by lexeme), '')
    from unnest(lexemes)
$$;

-- Changes whenever the server's memory was lost: at a restart, and when a killed backend made all
-- backends start again (that keeps the postmaster's start time, but resets the statistics).
create or replace function lexichord_data.server_epoch() returns timestamptz
language sql stable parallel safe set search_path = pg_catalog, pg_temp as $$
    select greatest(pg_postmaster_start_time(), pg_stat_get_bgwriter_stat_reset_time())
$$;

-- pg_textsearch up to 0.6.1 keeps rows that came after the index was built in the server's memory
-- and may lose them. A row here says in which epoch there are such rows.
create table if not exists lexichord_data.unsaved_keywords (epoch timestamptz not null);

create or replace function lexichord_data.mark_unsaved_keywords() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
    if to_regclass('lexichord_data.chunk_bm25') is not null then
        insert into lexichord_data.unsaved_keywords
        select e from lexichord_data.server_epoch() as e
        where not exists (select from lexichord_data.unsaved_keywords u where u.epoch = e);
    end if;
    return null;
end $$;

-- After the rows, never before: a re-index takes its lock on the table first and the marks after.
create or replace trigger mark_unsaved after insert or update or delete on lexichord_data.chunk
    for each statement execute function lexichord_data.mark_unsaved_keywords();

do $$
declare
    space lexichord_data.embedding_space;
begin
    select * into strict space from lexichord_data.embedding_space;
    if space.dimension > 4000 then
        raise exception 'the engine pgvector indexes at most 4,000 dimensions, the embedding space has %', space.dimension
            using errcode = 'feature_not_supported', hint = 'Choose a model, or an output, of fewer dimensions, or the engine vectorchord.';
    end if;
    execute format('alter table lexichord_data.chunk add column if not exists embedding @extschema:vector@.halfvec(%s)', space.dimension);
    -- Kept in the row: comparing 1,340 vectors takes .5 ms, 4 ms if they must be fetched from elsewhere.
    -- Longer ones would not fit beside the rest.
    if space.dimension <= 1536 then
        alter table lexichord_data.chunk alter column embedding set storage plain;
    end if;
    alter table lexichord_data.chunk add column if not exists keyword_text text
        generated always as (lexichord_data.lexeme_text(lexemes)) stored;
end $$;
