-- Idempotent: the columns of this engine. The indexes are build_indexes'.

do $$
declare
    found text := (
        select string_agg(n.name || ' ' || coalesce(a.installed_version, a.default_version, 'missing'), ', ' order by n.name)
        from (values ('vchord', '1.1.'), ('vchord_bm25', '0.3.')) as n (name, wanted)
        left join pg_available_extensions a on a.name = n.name
        where not starts_with(coalesce(a.installed_version, a.default_version, ''), n.wanted));
begin
    if found is not null then
        raise exception 'the engine vectorchord needs vchord 1.1.x and vchord_bm25 0.3.x; found: %', found
            using errcode = 'feature_not_supported',
                  hint = 'Start the server of docker-compose.yml, or install these versions and run: alter extension ... update;';
    end if;
end $$;

-- vchord has the vector index (and brings pgvector's types), vchord_bm25 the BM25 index.
create extension if not exists vchord cascade;
create extension if not exists vchord_bm25;

-- Lexemes as the text of a bm25vector, {term id:times,...}; unknown ones are left out, null = none is known.
create or replace function lexichord_data.lexeme_vector(lexemes tsvector) returns text
language sql stable strict parallel safe set search_path = lexichord_data, pg_catalog, pg_temp as $$
    select '{' || string_agg(t.id || ':' || cardinality(u.positions), ',' order by t.id) || '}'
    from unnest(lexemes) as u join term t on t.lexeme = u.lexeme
$$;

-- Before the row, although count_inserted makes the ids after the statement: an update of the new rows would
-- leave a dead copy of each in both indexes. So the terms are added here, with no change in df, which
-- count_inserted still adds. The corpus row is locked first, as by every writer: one order, no deadlock.
create or replace function lexichord_data.fill_keyword_vector() returns trigger
language plpgsql set search_path = lexichord_data, pg_catalog, pg_temp as $$
declare
    names text[] := tsvector_to_array(new.lexemes);
begin
    perform from corpus for no key update;
    perform lexichord_data.add_terms(names, array_fill(0::bigint, array[cardinality(names)]));
    new.keyword_vector := lexichord_data.lexeme_vector(new.lexemes)::bm25_catalog.bm25vector;
    return new;
end $$;

create or replace trigger fill_keyword_vector before insert or update of lexemes on lexichord_data.chunk
    for each row execute function lexichord_data.fill_keyword_vector();

do $$
declare
    space lexichord_data.embedding_space;
begin
    select * into strict space from lexichord_data.embedding_space;
    execute format('alter table lexichord_data.chunk add column if not exists embedding halfvec(%s)', space.dimension);
    alter table lexichord_data.chunk add column if not exists keyword_vector bm25_catalog.bm25vector;
    -- Rows from before the trigger; a chunk without lexemes has no vector.
    update lexichord_data.chunk set lexemes = lexemes where keyword_vector is null and lexemes <> ''::tsvector;
end $$;
