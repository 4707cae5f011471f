-- The latest 10,000 are kept: a vector of 384 numbers takes 1.6 kB. Readers see no words of others' queries.
create or replace function lexichord.set_query_vectors(space text, digests bytea[], vectors text[], faults text[]) returns void
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
begin
    perform lexichord.check_space(space);
    update query_vector v set embedding = u.vector::real[], fault = u.fault, query = ''
    from unnest(digests, vectors, faults) as u (digest, vector, fault)
    where v.space = set_query_vectors.space and v.digest = u.digest;
    delete from query_vector v where v.requested_at < (
        select o.requested_at from query_vector o order by o.requested_at desc offset 10000 limit 1);
end $$;
comment on function lexichord.set_query_vectors(text, bytea[], text[], text[]) is
'Stores the vectors of queries, of `space`, as arrays; or why there is none. Of older queries than the latest 10,000 they are deleted.';
