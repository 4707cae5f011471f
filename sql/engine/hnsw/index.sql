-- Idempotent: what a vector index of pgvector can take.
do $$
declare
    dimension integer := (select s.dimension from lexichord_data.embedding_space s);
begin
    if dimension > 4000 then
        raise exception 'an HNSW index takes at most 4,000 dimensions, the embedding space has %', dimension
            using errcode = 'feature_not_supported', hint = 'Choose a model, or an output, of fewer dimensions, or the engine vectorchord.';
    end if;
end $$;
