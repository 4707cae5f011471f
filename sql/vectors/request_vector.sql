create or replace function lexichord.request_vector(query text) returns void
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp set standard_conforming_strings = on as $$
begin
    if query !~ '\S' or query is null then
        raise exception 'the query is empty' using errcode = 'invalid_parameter_value';
    end if;
    insert into query_vector as v (space, digest, query)
    select b.space, sha256(convert_to(request_vector.query, 'UTF8')), request_vector.query from lexichord.bound_space() as b
    on conflict on constraint query_vector_pkey do update set requested_at = clock_timestamp(), fault = null, query = excluded.query;
    notify lexichord_query;
end $$;
comment on function lexichord.request_vector(text) is 'Asks the workers for the vector of a query; they see it once it is committed.';
