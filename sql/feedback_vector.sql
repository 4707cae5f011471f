-- Rocchio (1971) without negative examples: the query's direction and that of the chunks' mean. On ContractNLI it adds
-- nothing that shows (mAP, half A, 63.2 with the terms alone, 63.0 with both; 52.7 without feedback, 53.1 with the vector alone).
create or replace function lexichord.feedback_vector(
    query_vector halfvec, chunks bigint[], original_weight double precision default 0.6
) returns halfvec
language plpgsql stable
set search_path = lexichord_data, public, pg_catalog, pg_temp as $$
declare
    mean vector;  -- halfvec's arithmetic fails on underflow
begin
    if original_weight is null or original_weight not between 0 and 1 then
        raise exception 'original_weight must be between 0 and 1' using errcode = 'invalid_parameter_value';
    end if;
    select l2_normalize(avg(l2_normalize(c.embedding::vector))) into mean from chunk c where c.id = any(chunks);
    if mean is null or query_vector is null then
        return coalesce(mean::halfvec, query_vector);
    end if;
    return l2_normalize(
        l2_normalize(query_vector::vector) * array_fill(original_weight, array[vector_dims(mean)])::vector
        + mean * array_fill(1 - original_weight, array[vector_dims(mean)])::vector)::halfvec;
end $$;
comment on function lexichord.feedback_vector(halfvec, bigint[], double precision) is
'A query''s vector moved towards chunks (Rocchio); without one, the direction of their mean.';
