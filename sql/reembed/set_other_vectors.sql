-- Each row is locked in the order of ids, as by any other who fills. One that was written since it was read is left:
-- its text may be another.
create or replace function lexichord.set_other_vectors(space text, chunk_ids bigint[], row_versions text[], vectors text[]) returns bigint
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    filled bigint;
begin
    perform lexichord.bound_space();  -- no swap from here on
    update reembedding r set seen_at = clock_timestamp()
    where r.state <> 'dropped' and concat_ws('/', r.provider, r.model, r.dimension) = set_other_vectors.space;
    if not found then
        raise exception 'the database has no column for vectors of %', space
            using errcode = 'invalid_parameter_value', hint = 'Somebody has swapped or dropped it: see lexichord status.';
    end if;
    with same as (
        select c.id, v.vector
        from unnest(chunk_ids, row_versions, vectors) as v (id, version, vector) join chunk c on c.id = v.id
        where c.other_embedding is null and c.xmin::text = v.version
        order by c.id for no key update of c
    )
    update chunk c set other_embedding = s.vector::@extschema:vector@.halfvec from same s where c.id = s.id;
    get diagnostics filled = row_count;
    update reembedding r set embedded = r.embedded + filled where r.state <> 'dropped';
    return filled;
end $$;
comment on function lexichord.set_other_vectors(text, bigint[], text[], text[]) is
'Gives chunks that have none their vectors of the space that the database changes to, or has left; returns how many it filled. Chunks that were written since chunks_without_other read them stay as they are.';
