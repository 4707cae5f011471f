create or replace function lexichord.dense_candidates(
    query_vector @extschema:vector@.halfvec, depth integer default lexichord.default_depth(), documents bigint[] default null
) returns table (chunk_id bigint, document_id bigint, rank bigint, score double precision)
language plpgsql stable rows 100
set search_path = pg_catalog, lexichord_data, pg_temp
-- All end with the function. What a session or the database has set must not reach the index: too few probes lose
-- rows, probes that do not fit its lists are an error of the planner's.
set vchordrq.probes = '' set vchordrq.max_scan_tuples = -1 set vchordrq.enable_scan = on as $$
declare
    settings record;
    tried text;
    chunks bigint[];
    owners bigint[];
    ranks bigint[];
    scores double precision[];
begin
    if documents is not null and lexichord.is_narrow(documents) then
        return query select * from lexichord.exact_dense_candidates(query_vector, depth, documents);
        return;
    end if;
    select p.probes, p.lists into settings from lexichord_data.dense_probes() as p;
    -- What the scope drops is replaced by the next nearest, but only from the probed lists: if they do not hold
    -- enough, all are probed.
    foreach tried in array array[settings.probes, settings.lists] loop
        perform set_config('vchordrq.probes', tried, true);
        execute format('select array_agg(c.id), array_agg(c.document_id), array_agg(c.rank), array_agg(c.score)
                        from (%s) as c (id, document_id, rank, score)', lexichord.dense_statement(documents is not null))
        into chunks, owners, ranks, scores using query_vector, depth, documents;
        exit when cardinality(chunks) >= depth or settings.probes = settings.lists;
    end loop;
    return query select * from unnest(chunks, owners, ranks, scores);
end $$;
comment on function lexichord.dense_candidates(@extschema:vector@.halfvec, integer, bigint[]) is
'The depth chunks nearest to a vector, best first; score = cosine similarity. documents null = everywhere. Readers may call it.';
