create or replace function lexichord.embed(query text) returns @extschema:vector@.halfvec
language plpgsql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    found_vector @extschema:vector@.halfvec := lexichord.known_vector(query);
begin
    if found_vector is null then
        raise exception 'the query has not been embedded' using errcode = 'no_data_found',
            hint = format('call lexichord.prepare_query(%L); before this statement, outside a transaction.', left(query, 100));
    end if;
    return found_vector;
end $$;
comment on function lexichord.embed(text) is 'The vector of a query that prepare_query() had embedded; an error if it was not. Readers may call it.';
