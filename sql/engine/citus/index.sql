-- Idempotent: vectors, spread over the workers by document. All else, texts, words and statistics, is in plain tables of the
-- coordinator: on a table that is spread Citus refuses triggers, policies that look into another table, and most statements
-- inside of SQL functions (docs/log/citus.md).

-- Whether vectors are on the workers, as far as these can be asked: not after a restore by Postgres' own tools, which spread
-- nothing, nor where a worker was replaced by an empty one.
create or replace function lexichord_data.is_spread() returns boolean
language sql set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select exists (select from pg_dist_partition p where p.logicalrelid = to_regclass('lexichord_data.chunk_vector'))
       and not exists (select from run_command_on_shards(to_regclass('lexichord_data.chunk_vector'), 'select to_regclass(''%s'') is null') as r
                       where r.success and r.result = 't')
$$;

do $$
declare
    dimension integer := (select s.dimension from lexichord_data.embedding_space s);
    shards bigint := (select count(*) from pg_dist_shard s where s.logicalrelid = to_regclass('lexichord_data.chunk_vector'));
begin
    if lexichord_data.is_spread() then
        return;
    end if;
    set local citus.enable_ddl_propagation = on;
    drop table if exists lexichord_data.chunk_vector;
    execute format('create table lexichord_data.chunk_vector (
        document_id bigint, chunk_id bigint, embedding @extschema:vector@.halfvec(%s), primary key (document_id, chunk_id))
        with (toast_tuple_target = 8160)', dimension);  -- kept in the row: fetching it from elsewhere takes longer than comparing
    -- Each shard costs a search a millisecond of planning and waiting, and two a worker can be moved to others. An
    -- administrator's own number stands; alter_distributed_table changes it later.
    if shards > 0 then
        perform set_config('citus.shard_count', shards::text, true);
    elsif (select s.source from pg_settings s where s.name = 'citus.shard_count') = 'default' then
        perform set_config('citus.shard_count', (2 * count(*))::text, true)
        from pg_dist_node n where n.isactive and n.shouldhaveshards and n.noderole = 'primary';
    end if;
    perform create_distributed_table('lexichord_data.chunk_vector', 'document_id');
    -- No setting of a function's own reaches a worker. 100,391 chunks in six shards, built at 64 candidates, of the first ten
    -- those by exact vectors, and what a vector search takes: .93 and 7 ms at 100, .95 and 10 at 200, .97 and 15 at 400; one
    -- server at 100: .90 and 3.
    perform '[1]'::@extschema:vector@.vector;  -- else the server does not know them yet
    execute format('alter database %I set hnsw.ef_search = 100', current_database());
    execute format('alter database %I set hnsw.iterative_scan = relaxed_order', current_database());
    set local citus.enable_ddl_propagation = off;
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

-- As its owner, whom alone the workers know.
create or replace function lexichord_data.spread_vectors() returns trigger
language plpgsql security definer set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    owners bigint[];
    chunks bigint[];
begin
    if tg_op = 'TRUNCATE' then
        delete from chunk_vector;
        return null;
    elsif tg_op = 'INSERT' then
        chunks := array(select a.id from after a);
    elsif tg_op = 'UPDATE' then
        select array_agg(distinct b.document_id), array_agg(a.id) into owners, chunks
        from after a join before b using (id) where a is distinct from b;
    else
        select array_agg(distinct b.document_id), array_agg(b.id) into owners, chunks from before b;
    end if;
    if owners <> '{}' then
        delete from chunk_vector v where v.document_id = any(owners) and v.chunk_id = any(chunks);
    end if;
    if tg_op <> 'DELETE' and chunks <> '{}' then
        perform lexichord_data.add_vectors(chunks);
    end if;
    return null;
end $$;
revoke execute on function lexichord_data.spread_vectors() from public;
create or replace trigger spread_inserted after insert on lexichord_data.chunk
    referencing new table as after for each statement execute function lexichord_data.spread_vectors();
create or replace trigger spread_updated after update on lexichord_data.chunk
    referencing old table as before new table as after for each statement execute function lexichord_data.spread_vectors();
create or replace trigger spread_deleted after delete on lexichord_data.chunk
    referencing old table as before for each statement execute function lexichord_data.spread_vectors();
create or replace trigger spread_truncated after truncate on lexichord_data.chunk
    for each statement execute function lexichord_data.spread_vectors();

-- For recount, and for a database that was restored without the table.
create or replace function lexichord_data.add_missing_vectors() returns void
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    owners bigint[];
    chunks bigint[];
    present bigint[];
begin
    for owners, chunks in select array_agg(distinct c.document_id), array_agg(c.id) from chunk c group by c.id / 10000 loop
        present := array(select v.chunk_id from chunk_vector v where v.document_id = any(owners) and v.chunk_id = any(chunks));
        perform lexichord_data.add_vectors(array(select unnest(chunks) except select unnest(present)));
    end loop;
end $$;
select lexichord_data.add_missing_vectors();
