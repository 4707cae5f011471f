-- Weighted RRF (Cormack et al., 2009), over the variants' own lists. A list adds weight / (constant + rank)
-- for each of its chunks; ranks count after the boost, so that a variant draws from both of its sources:
-- the whole scope and the inside of the boosted documents.
-- The first two of the original are always among the k: forty chunks of a file that was only guessed, first in no list but
-- in several, had left out what both channels had first.
create or replace function lexichord.search_variants(
    variants jsonb, k integer default lexichord.default_k(), depth integer default lexichord.default_depth(),
    datasets text[] default null, documents bigint[] default null, uri_prefix text default null, filter jsonb default null,
    weights double precision[] default lexichord.default_weights(), boost jsonb default null, query_space text default null
) returns setof lexichord.variant_hit
language plpgsql stable rows 10
set search_path = pg_catalog, lexichord_data, pg_temp
-- A custom plan looks cheaper each time, and costs a planning each time.
set plan_cache_mode = force_generic_plan as $$
begin
    perform lexichord.check_variants(variants, k, depth);
    return query
    with variant as materialized (
        select v.place, v.variant ->> 'name' as name, v.variant ->> 'text' as text, v.variant -> 'terms' as terms,
               (v.variant ->> 'vector')::@extschema:vector@.halfvec as vector, coalesce((v.variant ->> 'weight')::float8, 1) as weight,
               case when jsonb_typeof(v.variant -> 'documents') = 'array' then array(
                   select inside.id from (select e::bigint as id from jsonb_array_elements_text(v.variant -> 'documents') as e) as inside
                   where search_variants.documents is null or inside.id = any(search_variants.documents))
                    else search_variants.documents end as inside
        from jsonb_array_elements(variants) with ordinality as v (variant, place)
    ), candidate as materialized (
        select v.place, v.name, v.weight / (lexichord.rrf_constant() + c.rank) as part, c.*
        from variant v, lexichord.variant_candidates(v.text, nullif(v.terms, 'null'), v.vector, depth, datasets, v.inside,
                 uri_prefix, filter, weights, boost, query_space) as c
    ), fused as (
        select c.chunk_id, sum(c.part order by c.place) as score, min(array[c.place, c.rank]) as first,
               jsonb_object_agg(c.name, c.rank) as ranks, jsonb_object_agg(c.name, c.part) as parts
        from candidate c group by c.chunk_id
        order by coalesce(min(c.rank) filter (where c.place = 1) <= 2, false) desc, 2 desc, 3 limit k
    )
    select h.*, f.score, o.dense_score, o.dense_rank, o.keyword_score, o.keyword_rank, o.fused_score, f.ranks, f.parts
    from fused f
    join lexichord.read_hits(array(select b.chunk_id from fused b)) as h on h.chunk_id = f.chunk_id
    left join candidate o on o.chunk_id = f.chunk_id and o.place = 1
    order by f.score desc, f.first;
end $$;
comment on function lexichord.search_variants(jsonb, integer, integer, text[], bigint[], text, jsonb, double precision[], jsonb, text) is
'The k best chunks for several variants of a query, each a hybrid search, fused by weighted RRF. variants = [{"name", "text", "terms": {"lexeme": times}, "vector": [...], "weight": 1, "documents": [ids]}, ...], the original first; terms take the place of the text''s own words, documents narrow that variant''s scope. variant_ranks and variant_scores hold each variant''s rank and share of the score; dense, keyword and fused scores are the first variant''s. Readers may call it.';
