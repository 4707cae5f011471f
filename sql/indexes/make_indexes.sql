-- Loading first and building after is several times faster than building while loading, so an empty table has no index.
-- A new one is built beside the old, so that searches wait for the exchange only. No writer is under way then: one that has
-- read the table and goes on to write would be in a deadlock with the exchange.
create or replace function lexichord.make_indexes(anew boolean) returns boolean
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp set client_min_messages = warning as $$
declare
    outgrown boolean := anew or exists (select from lexichord.outgrown_indexes());
    each record;
begin
    if exists (select from lexichord.wanted_indexes() as w where anew or w.reason is not null) then
        perform lexichord.hold_writers();  -- before the table: else there are deadlocks
    end if;
    for each in select w.* from lexichord.wanted_indexes() as w where anew or w.reason is not null loop
        execute format('create index %I on %s', each.index_name || '_new', each.definition);
        execute format('drop index if exists %I', each.index_name);
        execute format('alter index %I rename to %I', each.index_name || '_new', each.index_name);
        insert into index_build (index_name, chunks, last_chunk)
        select each.index_name, n.chunk_count, (select coalesce(max(c.id), 0) from chunk c) from corpus_statistics n
        on conflict (index_name) do update set chunks = excluded.chunks, last_chunk = excluded.last_chunk;
    end loop;
    -- After the indexes: one that is built over rows just updated waits for the commit. Segments hold what impacts were.
    if lexichord.refresh_impacts(anew) or anew then
        perform lexichord.unseal_keywords();
    end if;
    perform lexichord.seal_keywords();
    perform lexichord.fold_statistics();  -- last: others may wait for the terms that it changes
    -- Autovacuum leaves a table of fewer than 50 rows alone, and comes to others in a minute; one without statistics is taken
    -- for full pages: of 13 documents the look for those that a question names took 16 ms in place of 4, and what tells whether
    -- two words are one 8.9 in place of .7, for each term's changes, which were folded.
    if outgrown or exists (select from pg_class c, document d where c.oid = 'document'::regclass and c.reltuples < 0) then
        analyze chunk, term, term_change, keyword, card_term, document, dataset, configuration, embedding_space, corpus, dataset_count;
    end if;
    return outgrown;
end $$;
comment on function lexichord.make_indexes(boolean) is
'What build_indexes and, anew, rebuild_indexes do. Internal.';
