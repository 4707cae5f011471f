-- Only where there is none yet: a second ingest that fills the same chunks does no harm.
create or replace function lexichord.set_vectors(chunk_ids bigint[], vectors text[], space text default null) returns bigint
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    filled bigint;
begin
    perform lexichord.check_space(space);
    update chunk c set embedding = v.vector::@extschema:vector@.halfvec
    from unnest(chunk_ids, vectors) as v (id, vector)
    where c.id = v.id and c.embedding is null;
    get diagnostics filled = row_count;
    return filled;
end $$;
comment on function lexichord.set_vectors(bigint[], text[], text) is
'Gives vectors, of `space`, to chunks that have none; returns how many it filled.';
