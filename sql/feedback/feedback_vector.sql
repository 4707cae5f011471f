-- Rocchio (1971) without negative examples: the query's direction and that of the chunks' mean. On ContractNLI it adds
-- nothing that shows (mAP, half A, 63.2 with the terms alone, 63.0 with both; 52.7 without feedback, 53.1 with the vector alone).
create or replace function lexichord.feedback_vector(
    query_vector @extschema:vector@.halfvec, chunks bigint[], original_weight double precision default 0.6
) returns @extschema:vector@.halfvec
language plpgsql stable
set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    mean @extschema:vector@.vector;  -- halfvec's arithmetic fails on underflow
    original @extschema:vector@.vector;
    lengths integer[];
begin
    if original_weight is null or original_weight not between 0 and 1 then
        raise exception 'original_weight must be between 0 and 1' using errcode = 'invalid_parameter_value';
    end if;
    select @extschema:vector@.l2_normalize(@extschema:vector@.avg(@extschema:vector@.l2_normalize(c.embedding::@extschema:vector@.vector)))
    into mean from chunk c where c.id = any(chunks);
    if mean is null or query_vector is null then
        return coalesce(mean::@extschema:vector@.halfvec, query_vector);
    end if;
    original := @extschema:vector@.l2_normalize(query_vector::@extschema:vector@.vector);
    lengths := array[@extschema:vector@.vector_dims(mean)];
    return @extschema:vector@.l2_normalize(
        (original operator(@extschema:vector@.*) array_fill(original_weight, lengths)::@extschema:vector@.vector)
        operator(@extschema:vector@.+)
        (mean operator(@extschema:vector@.*) array_fill(1 - original_weight, lengths)::@extschema:vector@.vector)
    )::@extschema:vector@.halfvec;
end $$;
comment on function lexichord.feedback_vector(@extschema:vector@.halfvec, bigint[], double precision) is
'A query''s vector moved towards chunks (Rocchio); without one, the direction of their mean. Readers may call it.';
