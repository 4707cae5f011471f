-- The one place where BM25 scores are made, on every engine: the inner product of the query's weights and the chunk's
-- stored impacts. What an index proposed everywhere is read by a plan that the session keeps, for planning takes a third of that;
-- else statements without the conditions, not "documents is null or", so that the index is used, and many documents are hashed.
create or replace function lexichord.exact_term_candidates(
    terms tsvector, depth integer default lexichord.default_depth(), documents bigint[] default null, among bigint[] default null
) returns table (chunk_id bigint, document_id bigint, rank bigint, score double precision)
language plpgsql stable rows 100
set search_path = pg_catalog, lexichord_data, pg_temp set extra_float_digits = 1 set plan_cache_mode = force_generic_plan as $$
declare
    query @extschema:vector@.sparsevec;
begin
    select ('{' || string_agg(w.term_id || ':' || w.weight::real, ',') || '}/1000000000')::@extschema:vector@.sparsevec into query
    from lexichord.keyword_weights(terms) as w;
    if query is null then
        return;
    end if;
    if among is not null and documents is null then
        return query
        select c.chunk_id, c.document_id, row_number() over (order by c.distance, c.chunk_id), -c.distance
        from (select k.chunk_id, k.document_id, k.impacts operator(@extschema:vector@.<#>) query as distance
              from keyword k where k.chunk_id = any(among)
              order by 3, 1 limit depth) as c
        where c.distance < 0;
        return;
    end if;
    return query execute format($query$
        select c.chunk_id, c.document_id, row_number() over (order by c.distance, c.chunk_id), -c.distance
        from (select k.chunk_id, k.document_id, k.impacts operator(@extschema:vector@.<#>) $1 as distance
              from keyword k where true %s %s order by 3, 1 limit $2) as c
        where c.distance < 0
        $query$, case when documents is not null then 'and k.document_id = any($3)' end,
                 case when among is not null then 'and k.chunk_id = any($4)' end)
    using query, depth, documents, among;
end $$;
comment on function lexichord.exact_term_candidates(tsvector, integer, bigint[], bigint[]) is
'As term_candidates, by reading every chunk in scope; among = only these chunks. Internal. Readers may call it.';
