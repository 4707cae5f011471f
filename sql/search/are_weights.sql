create or replace function lexichord.are_weights(weights double precision[]) returns boolean
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
    select coalesce(cardinality(weights) = 2 and weights[1] between 0 and 1e6 and weights[2] between 0 and 1e6
                    and greatest(weights[1], weights[2]) >= 1e-6, false)
$$;
comment on function lexichord.are_weights(double precision[]) is
'Whether these are two numbers, not negative and not both 0. Internal. Readers may call it.';
