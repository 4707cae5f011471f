-- Idempotent: what searches compare, spread over the workers by document. All else, texts, lexemes and statistics, is in
-- plain tables of the coordinator: on a table that is spread Citus refuses triggers, policies that look into another table,
-- and most statements inside of SQL functions (docs/log/citus.md).
do $$
declare
    dimension integer := (select s.dimension from lexichord_data.embedding_space s);
begin
    if to_regclass('lexichord_data.chunk_vector') is not null then
        return;
    end if;
    create table lexichord_data.keyword (
        document_id bigint,
        chunk_id    bigint,
        impacts     @extschema:vector@.sparsevec(1000000000) not null,  -- by term.id
        primary key (document_id, chunk_id)
    ) with (toast_tuple_target = 8160);  -- kept in the row, as on one server; so are vectors
    execute format('create table lexichord_data.chunk_vector (
        document_id bigint, chunk_id bigint, embedding @extschema:vector@.halfvec(%s), primary key (document_id, chunk_id)) with (toast_tuple_target = 8160)', dimension);
    set local citus.enable_ddl_propagation = on;
    -- Each shard costs a search a millisecond of planning and waiting, and two a worker can be moved to others. An
    -- administrator's own number stands; alter_distributed_table changes it later.
    if (select s.source from pg_settings s where s.name = 'citus.shard_count') = 'default' then
        perform set_config('citus.shard_count', (2 * count(*))::text, true)
        from pg_dist_node n where n.isactive and n.shouldhaveshards and n.noderole = 'primary';
    end if;
    perform create_distributed_table('lexichord_data.keyword', 'document_id');
    perform create_distributed_table('lexichord_data.chunk_vector', 'document_id', colocate_with => 'lexichord_data.keyword');
    -- No setting of a function's own reaches a worker. Three shards, 5,472 chunks: of the first ten .987 at 40, all at 200.
    perform '[1]'::@extschema:vector@.vector;  -- else the server does not know them yet
    execute format('alter database %I set hnsw.ef_search = 200', current_database());
    execute format('alter database %I set hnsw.iterative_scan = relaxed_order', current_database());
    set local citus.enable_ddl_propagation = off;
end $$;

-- For the chunks that the keyword index proposes. It is on the coordinator, as on one server; where the spread tables are made
-- anew, it is too, for what add_missing_keywords adds waits for being sealed.
do $$
begin
    if to_regclass('lexichord_data.keyword_chunk') is null then
        set local citus.enable_ddl_propagation = on;
        create index keyword_chunk on lexichord_data.keyword (chunk_id);
        set local citus.enable_ddl_propagation = off;
        update lexichord_data.keyword_segment set superseded = true;
        insert into lexichord_data.keyword_tail (chunk_id) select c.id from lexichord_data.chunk c on conflict do nothing;
    end if;
end $$;

-- Of these documents, null = of all, those that a tenant sees; else what was given.
create or replace function lexichord_data.seen_documents(documents bigint[]) returns bigint[]
language plpgsql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
begin
    if not lexichord_data.is_bound() then
        return documents;
    end if;
    return array(
        select d.id from document d
        where (seen_documents.documents is null or d.id = any(seen_documents.documents)) and d.dataset_id = any (lexichord_data.own_datasets())
          and (d.principals is null or d.principals && lexichord_data.own_principals()));
end $$;

-- From chunks to the workers. Arrays, for a statement over shards sees neither a transition table nor what a function gives.
create or replace function lexichord_data.add_vectors(chunk_ids bigint[]) returns void
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    owners bigint[];
    chunks bigint[];
    vectors @extschema:vector@.halfvec[];
    others @extschema:vector@.halfvec[];
    has_other boolean := exists (select from pg_attribute a where a.attrelid = 'lexichord_data.chunk_vector'::regclass and a.attname = 'other_embedding');
begin
    execute format('select array_agg(c.document_id), array_agg(c.id), array_agg(c.embedding), array_agg(%s) from lexichord_data.chunk c where c.id = any($1)',
        case when has_other then 'c.other_embedding' else 'null::@extschema:vector@.halfvec' end)
    into owners, chunks, vectors, others using chunk_ids;
    if has_other then
        insert into chunk_vector (document_id, chunk_id, embedding, other_embedding) select * from unnest(owners, chunks, vectors, others);
    else
        insert into chunk_vector (document_id, chunk_id, embedding) select * from unnest(owners, chunks, vectors);
    end if;
end $$;

create or replace function lexichord_data.add_keywords(chunk_ids bigint[]) returns void
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp set extra_float_digits = 1 as $$
declare
    average double precision := lexichord_data.average_length();
    owners bigint[];
    chunks bigint[];
    impacts @extschema:vector@.sparsevec[];
begin
    select array_agg(c.document_id), array_agg(c.id), array_agg(i) into owners, chunks, impacts
    from chunk c, lexichord_data.impact_vector(c.lexemes, c.token_count, average) as i where c.id = any(chunk_ids) and c.lexemes <> ''::tsvector;
    insert into keyword (document_id, chunk_id, impacts) select * from unnest(owners, chunks, impacts);
end $$;

create or replace function lexichord_data.keep_index_rows() returns trigger
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    owners bigint[];
    chunks bigint[];
    worded bigint[];  -- those whose lexemes are others
begin
    if tg_op = 'TRUNCATE' then
        delete from chunk_vector;
        delete from keyword;
        delete from keyword_tail;
        return null;
    elsif tg_op = 'INSERT' then
        chunks := array(select a.id from after a);
        worded := chunks;
    elsif tg_op = 'UPDATE' then
        perform lexichord_data.add_terms(array(
            select distinct u.lexeme from after a join before b using (id), unnest(a.lexemes) as u where a.lexemes is distinct from b.lexemes));
        select array_agg(distinct a.document_id), array_agg(a.id),
               array_agg(a.id) filter (where a.lexemes is distinct from b.lexemes or a.token_count <> b.token_count)
        into owners, chunks, worded
        from after a join before b using (id) where a is distinct from b;
    else
        select array_agg(distinct b.document_id), array_agg(b.id), array_agg(b.id) into owners, chunks, worded from before b;
    end if;
    if owners <> '{}' then
        delete from chunk_vector v where v.document_id = any(owners) and v.chunk_id = any(chunks);
    end if;
    if owners <> '{}' and worded <> '{}' then
        delete from keyword k where k.document_id = any(owners) and k.chunk_id = any(worded);
        delete from keyword_tail t where t.chunk_id = any(worded);
    end if;
    if tg_op <> 'DELETE' and chunks <> '{}' then
        perform lexichord_data.add_vectors(chunks);
    end if;
    if tg_op <> 'DELETE' and worded <> '{}' then
        perform lexichord_data.add_keywords(worded);
        insert into keyword_tail (chunk_id) select unnest(worded);
    end if;
    return null;
end $$;
-- After count_inserted, which makes the terms: triggers fire in the order of their names.
create or replace trigger keep_inserted after insert on lexichord_data.chunk
    referencing new table as after for each statement execute function lexichord_data.keep_index_rows();
create or replace trigger keep_updated after update on lexichord_data.chunk
    referencing old table as before new table as after for each statement execute function lexichord_data.keep_index_rows();
create or replace trigger keep_deleted after delete on lexichord_data.chunk
    referencing old table as before for each statement execute function lexichord_data.keep_index_rows();
create or replace trigger keep_truncated after truncate on lexichord_data.chunk
    for each statement execute function lexichord_data.keep_index_rows();

-- For refresh_impacts. Part by part: an array holds one gigabyte.
create or replace function lexichord_data.replace_impacts() returns void
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    chunks bigint[];
begin
    delete from keyword;
    for chunks in select array_agg(c.id) from chunk c group by c.id / 10000 loop
        perform lexichord_data.add_keywords(chunks);
    end loop;
end $$;

-- For recount, and for a database that was restored without these tables.
create or replace function lexichord_data.add_missing_keywords() returns void
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    owners bigint[];
    chunks bigint[];
    present bigint[];
    worded bigint[];
begin
    for owners, chunks in select array_agg(distinct c.document_id), array_agg(c.id) from chunk c group by c.id / 10000 loop
        present := array(select v.chunk_id from chunk_vector v where v.document_id = any(owners) and v.chunk_id = any(chunks));
        perform lexichord_data.add_vectors(array(select unnest(chunks) except select unnest(present)));
        present := array(select k.chunk_id from keyword k where k.document_id = any(owners) and k.chunk_id = any(chunks));
        worded := array(select unnest(chunks) except select unnest(present));
        perform lexichord_data.add_keywords(worded);
        insert into keyword_tail (chunk_id) select unnest(worded) on conflict do nothing;
    end loop;
end $$;
select lexichord_data.add_missing_keywords();
