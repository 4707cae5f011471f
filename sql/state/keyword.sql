-- Idempotent: what every keyword search scores by, on all engines. BM25 is a sum over the query's terms of idf times
-- an impact that depends on the chunk alone, so a chunk's impacts are stored, and a score is one inner product.

-- Of the values tried, these serve contracts and code (docs/log).
create or replace function lexichord_data.bm25_parameters(out k1 double precision, out b double precision)
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
    select 0.9::float8, 0.4::float8
$$;

-- These two have a body that is read when they are made, and so no path of their own: else neither would be inlined, and a
-- chunk take twice as long to store.
create or replace function lexichord_data.impact(
    tf integer, token_count bigint, average_length double precision, k1 double precision, b double precision) returns double precision
language sql immutable parallel safe
return tf * (k1 + 1) / (tf + k1 * (1 - b + b * token_count / average_length));

-- sparsevec holds 16,000 elements: of a chunk with more distinct lexemes, the least impacts stay out. Its elements are written
-- as text: who calls this sets extra_float_digits, or a session's own would round what is stored.
create or replace function lexichord_data.impact_vector(lexemes tsvector, token_count bigint, average_length double precision)
returns setof @extschema:vector@.sparsevec
language sql stable parallel safe rows 1
begin atomic
    select ('{' || coalesce(string_agg(i.id || ':' || i.impact::real, ','), '') || '}/1000000000')::@extschema:vector@.sparsevec
    from (select t.id, lexichord_data.impact(cardinality(u.positions), impact_vector.token_count, impact_vector.average_length, p.k1, p.b) as impact
          from lexichord_data.bm25_parameters() as p, unnest(impact_vector.lexemes) as u
          join lateral (select t.id from lexichord_data.term t where t.lexeme = u.lexeme collate "C" offset 0) as t on true
          order by 2 desc, 1 limit 16000) as i;
end;

-- The first chunks say what length is usual; refresh_impacts says when that is no longer so.
create or replace function lexichord_data.average_length() returns double precision
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    average double precision := (select n.average_length from corpus n);
begin
    if average is null then
        update corpus n set average_length = c.token_count::float8 / c.chunk_count
        from corpus_statistics c where n.average_length is null and c.token_count > 0;
        average := (select n.average_length from corpus n);  -- perhaps another writer's
    end if;
    return average;
end $$;
