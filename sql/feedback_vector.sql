-- Rocchio (1971) without negative examples: the query's direction and that of the chunks' mean. On ContractNLI it adds
-- nothing that shows (mAP, half A, 63.2 with the terms alone, 63.0 with both; 52.7 without feedback, 53.1 with the vector alone).
create or replace function lexichord.feedback_vector(
    query text, query_vector halfvec default null, feedback_documents integer default 20,
    original_weight double precision default 0.6, depth integer default 100,
    datasets text[] default null, documents bigint[] default null, uri_prefix text default null, filter jsonb default null,
    fusion text default 'zscore', weights double precision[] default '{0.35,0.65}', query_space text default null,
    chunks bigint[] default null
) returns halfvec
language plpgsql stable
set search_path = lexichord_data, public, pg_catalog, pg_temp as $$
declare
    mean vector;  -- halfvec's arithmetic fails on underflow
begin
    if original_weight is null or original_weight not between 0 and 1 then
        raise exception 'original_weight must be between 0 and 1' using errcode = 'invalid_parameter_value';
    end if;
    if chunks is null then
        chunks := array(select f.chunk_id from lexichord.feedback_chunks(query, query_vector, feedback_documents, depth,
                            datasets, documents, uri_prefix, filter, fusion, weights, query_space) as f);
    end if;
    select l2_normalize(avg(l2_normalize(c.embedding::vector))) into mean from chunk c where c.id = any(chunks);
    if mean is null or query_vector is null then
        return coalesce(mean::halfvec, query_vector);
    end if;
    return l2_normalize(
        l2_normalize(query_vector::vector) * array_fill(original_weight, array[vector_dims(mean)])::vector
        + mean * array_fill(1 - original_weight, array[vector_dims(mean)])::vector)::halfvec;
end $$;
comment on function lexichord.feedback_vector(text, halfvec, integer, double precision, integer, text[], bigint[], text, jsonb, text, double precision[], text, bigint[]) is
'A query''s vector moved towards the best chunk of each of the first documents (Rocchio), or towards given chunks.';
