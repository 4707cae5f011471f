-- Idempotent: a chunk's impacts are in a table beside it that triggers keep, and its vector is indexed where it is stored.

-- Rows are inserted and deleted, never updated: an index over them sees no other change of a chunk.
create table if not exists lexichord_data.keyword (
    chunk_id    bigint primary key references lexichord_data.chunk on delete cascade,
    document_id bigint not null,
    impacts     @extschema:vector@.sparsevec(1000000000) not null  -- by term.id
) with (toast_tuple_target = 8160);  -- kept in the row: fetching them from elsewhere takes longer than scoring
create index if not exists keyword_document on lexichord_data.keyword (document_id);

-- Always one chunk after the other by its key: a plan for many would read the whole table where it is not analyzed yet.
create or replace function lexichord_data.add_keywords(chunk_ids bigint[]) returns void
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp set extra_float_digits = 1 set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
begin
    insert into keyword (chunk_id, document_id, impacts)
    select c.id, c.document_id, i
    from lexichord_data.average_length() as a (average_length), unnest(chunk_ids) as wanted (id) join chunk c on c.id = wanted.id,
         lexichord_data.impact_vector(c.lexemes, c.token_count, a.average_length) as i
    where c.lexemes <> ''::tsvector;
end $$;

-- For refresh_impacts.
create or replace function lexichord_data.replace_impacts() returns void
language sql set search_path = pg_catalog, lexichord_data, pg_temp set extra_float_digits = 1 as $$
    update keyword k set impacts = i
    from lexichord_data.average_length() as a (average_length), chunk c,
         lexichord_data.impact_vector(c.lexemes, c.token_count, a.average_length) as i where c.id = k.chunk_id
$$;

-- For the engines, once their triggers are there, and for recount.
create or replace function lexichord_data.add_missing_keywords() returns void
language sql set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select lexichord_data.add_keywords(array(
        select c.id from chunk c
        where c.lexemes <> ''::tsvector and not exists (select from keyword k where k.chunk_id = c.id)))
$$;

-- For recount: a chunk has its vector in its own row.
create or replace function lexichord_data.add_missing_vectors() returns void
language sql immutable set search_path = pg_catalog, pg_temp as $$ select $$;

create or replace function lexichord_data.add_inserted_keywords() returns trigger
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp set extra_float_digits = 1 as $$
begin
    insert into keyword (chunk_id, document_id, impacts)
    select c.id, c.document_id, i
    from lexichord_data.average_length() as a (average_length), changed c,
         lexichord_data.impact_vector(c.lexemes, c.token_count, a.average_length) as i
    where c.lexemes <> ''::tsvector;
    return null;
end $$;
-- After count_inserted, which makes the terms: triggers fire in the order of their names.
create or replace trigger keep_inserted after insert on lexichord_data.chunk
    referencing new table as changed for each statement execute function lexichord_data.add_inserted_keywords();

create or replace function lexichord_data.replace_keyword() returns trigger
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
begin
    perform lexichord_data.add_terms(tsvector_to_array(new.lexemes));
    delete from keyword k where k.chunk_id = new.id;
    perform lexichord_data.add_keywords(array[new.id]);
    return null;
end $$;
create or replace trigger keep_updated after update of lexemes, token_count on lexichord_data.chunk
    for each row when (old.lexemes is distinct from new.lexemes or old.token_count <> new.token_count)
    execute function lexichord_data.replace_keyword();
