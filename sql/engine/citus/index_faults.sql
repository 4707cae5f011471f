-- As its owner, whom alone the workers know: a tenant is told nothing. No statement names a spread table and a plain one:
-- Citus may then read the plain one over another connection, which does not see what this transaction has written.
create or replace function lexichord.index_faults() returns table (kind text, amount bigint)
language plpgsql stable security definer rows 3 set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    owners bigint[];
    chunks bigint[];
    filled bigint[];
    vectors bigint;
    without_vector bigint := 0;
begin
    if lexichord_data.is_bound() then
        return;
    end if;
    select count(*) into vectors from chunk_vector v;
    for owners, chunks in select array_agg(distinct c.document_id), array_agg(c.id) from chunk c group by c.id / 10000 loop
        filled := array(select v.chunk_id from chunk_vector v where v.document_id = any(owners) and v.chunk_id = any(chunks) and v.embedding is not null);
        vectors := vectors - cardinality(chunks);
        select without_vector + count(*) into without_vector
        from chunk c where c.id = any(chunks) and c.embedding is not null and c.id not in (select unnest(filled));
    end loop;
    return query
    select 'chunks that keyword searches miss', count(*)
    from chunk c where c.lexemes <> ''::tsvector and not exists (select from keyword k where k.chunk_id = c.id)
    union all
    values ('chunks that vector searches miss', without_vector), ('wrong rows of searches, of no chunk', greatest(vectors, 0));
end $$;
comment on function lexichord.index_faults() is
'The part of count_faults that concerns what searches compare. Internal. Readers may call it.';
