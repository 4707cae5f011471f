-- Only where there is none yet: a second ingest that fills the same chunks does no harm.
create or replace function lexichord.set_vectors(chunk_ids bigint[], vectors text[]) returns bigint
language sql set search_path = lexichord_data, public, pg_catalog, pg_temp as $$
    with filled as (
        update chunk c set embedding = v.vector::halfvec
        from unnest(chunk_ids, vectors) as v (id, vector)
        where c.id = v.id and c.embedding is null
        returning c.id
    )
    select count(*) from filled
$$;
comment on function lexichord.set_vectors(bigint[], text[]) is
'Gives vectors to chunks that have none; returns how many it filled.';
