create or replace function lexichord.reembed_status() returns table (
    reembed_id bigint, state text, old_space text, new_space text, other_space text, chunks bigint, missing bigint, embedded bigint,
    comparison jsonb, started_at timestamptz, seen_at timestamptz, swapped_at timestamptz)
language plpgsql stable rows 1 set search_path = pg_catalog, lexichord_data, pg_temp as $$
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
    return next;
end $$;
comment on function lexichord.reembed_status() is
'The latest change of the embedding space: filling, swapped (the old vectors are kept) or dropped (no other vectors are). missing = chunks without a vector of other_space. No row = there was none.';
