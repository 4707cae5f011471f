-- Whoever changes the space holds hold_reembed's lock, a key of 64 bits: pg_locks shows it in two halves.
create or replace function lexichord.reembed_status() returns table (
    reembed_id bigint, state text, old_space text, new_space text, other_space text, chunks bigint, missing bigint, embedded bigint,
    comparison jsonb, started_at timestamptz, seen_at timestamptz, swapped_at timestamptz, running boolean)
language plpgsql stable rows 1 set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    lock_key bigint := hashtextextended('lexichord reembed', 0);
begin
    select r.id, r.state, r.old_space, r.new_space, concat_ws('/', r.provider, r.model, r.dimension), n.chunk_count, r.embedded,
           r.comparison, r.started_at, r.seen_at, r.swapped_at
    into reembed_id, state, old_space, new_space, other_space, chunks, embedded, comparison, started_at, seen_at, swapped_at
    from reembedding r, corpus_statistics n order by r.id desc limit 1;
    if not found then
        return;
    elsif state <> 'dropped' then
        select count(*) into missing from chunk c where c.other_embedding is null;
    end if;
    running := exists (
        select from pg_locks l
        where l.locktype = 'advisory' and l.granted and l.objsubid = 1
          and l.database = (select d.oid from pg_database d where d.datname = current_database())
          and (l.classid::bigint << 32 | l.objid::bigint) = lock_key);
    return next;
end $$;
comment on function lexichord.reembed_status() is
'The latest change of the embedding space: filling, swapped (the old vectors are kept) or dropped (no other vectors are). missing = chunks without a vector of other_space; running = somebody holds hold_reembeds lock now. No row = there was none. Readers may call it.';
