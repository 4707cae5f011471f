-- Under 10,000 chunks the planner is right to do without an index.
create or replace function lexichord.find_problems() returns table (problem text, remedy text)
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
begin
    return query
    select format('the extension %s was moved from schema %s to %s', m.extension, m.named_schema, m.present_schema),
           'run lexichord init'
    from lexichord.moved_extensions() m;
    if found then
        return;  -- what else there is cannot be looked at
    end if;
    return query
    select format('%s: %s', f.kind, f.amount),
           case when f.kind like 'wrong%' or f.kind like '%vector searches miss' then 'select lexichord.recount();' else 'ingest these documents again' end
    from lexichord.count_faults() f where f.amount > 0
    union all
    select format('index %s %s', o.index_name, o.reason), 'select lexichord.build_indexes();' from lexichord.outgrown_indexes() o
    union all
    select format('%s %s: %s', e.extension, e.version, e.problem), e.remedy
    from lexichord.configuration() c, lexichord.extension_faults(c.engine) as e where e.severity = 'refuse'
    union all
    -- Whatever version is there now: damage stays until the index is built again. Sound indexes found .97 of 100k random
    -- vectors and .92 of 20k in 20 dense clumps, the hardest that were tried; damaged ones .04 to .8.
    select format('the vector index finds %s %% of what it holds, by a sample', round(100 * r.recall)), 'select lexichord.rebuild_indexes();'
    from lexichord.sampled_recall() as r (recall)
    where r.recall < .85 and to_regclass('lexichord_data.chunk_hnsw') is not null
    union all
    select format('index %s is not used', i.index_name), 'analyze lexichord_data.chunk;'
    from lexichord.index_use() i, corpus_statistics n where n.chunk_count > 10000 and i.plan is not null and not i.used
    union all
    select format('documents with the words of an earlier version: %s', s.outdated_documents), 'run lexichord reindex'
    from lexichord.database_status() s where s.outdated_documents > 0
    union all
    select format('chunks without a vector: %s', s.chunks_without_vector), 'ingest again with an embedder'
    from lexichord.database_status() s where s.chunks_without_vector > 0
    union all
    select format('indexed table %s: %s', t.source, t.fault), 'select * from lexichord.list_indexed_tables();'
    from lexichord.list_indexed_tables() t where t.fault is not null
    union all
    select format('indexed table %s: rows that could not be stored: %s', t.source, t.rows_failed), 'select * from lexichord.list_table_failures();'
    from lexichord.list_indexed_tables() t where t.rows_failed > 0
    union all
    select format('indexed table %s: changes wait since %s, and no worker has been seen for a minute', t.source, date_trunc('second', t.waiting_since)),
           'start lexichord worker'
    from lexichord.list_indexed_tables() t
    where t.fault is null and t.waiting_since < now() - interval '1 minute'
        and not exists (select from worker w where w.seen_at > now() - interval '1 minute')
    union all
    -- Whoever has more rights is not told to run a function that others can change.
    select g.problem || case when g.ours then '' else ', which a superuser can mend' end,
           case when g.ours then 'select lexichord.grant_reader();' else g.statement || ';' end
    from lexichord.reader_gaps() g
    union all
    select s.problem, s.statement || ';' from lexichord.schema_gaps() s;
end $$;
comment on function lexichord.find_problems() is 'What is wrong with the database, and what to do; no row = healthy. Readers may call it.';
