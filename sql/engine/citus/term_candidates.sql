-- MaxScore: words that most chunks hold add so little that a chunk with none of the others cannot be among the best. By the
-- rarest words it is found out how good those are, then all chunks are compared that may be among them.
create or replace function lexichord.term_candidates(
    terms tsvector, depth integer default lexichord.default_depth(), documents bigint[] default null
) returns table (chunk_id bigint, document_id bigint, rank bigint, score double precision)
language plpgsql stable rows 100
set search_path = pg_catalog, lexichord_data, pg_temp set extra_float_digits = 1 as $$
declare
    query @extschema:vector@.sparsevec;
    ids integer[];  -- the rarest first
    amounts double precision[];  -- at each, how many chunks hold it or one before it, at most
    others double precision[];  -- at each, what those after it add at most: no impact is above k1 + 1
    few integer;
    needed integer;
    chunks bigint[];
    owners bigint[];
    distances double precision[];
begin
    select ('{' || string_agg(w.term_id || ':' || w.weight::real, ',') || '}/1000000000')::@extschema:vector@.sparsevec,
           array_agg(w.term_id order by w.place), array_agg(w.amount order by w.place), array_agg(w.others order by w.place)
    into query, ids, amounts, others
    from (select w.term_id, w.weight, row_number() over rarest as place, sum(exp(-w.weight) * n.chunk_count) over rarest as amount,
                 coalesce(sum(w.weight * (p.k1 + 1) * 1.000001) over (rarest rows between 1 following and unbounded following), 0) as others
          from lexichord.keyword_weights(terms) as w, corpus_statistics n, lexichord_data.bm25_parameters() as p
          window rarest as (order by w.weight desc, w.term_id)) as w;
    if query is null then
        return;
    end if;
    few := coalesce((select min(i) from generate_subscripts(ids, 1) as i where amounts[i] >= 4 * depth), cardinality(ids));
    select array_agg(m.chunk_id), array_agg(m.document_id), array_agg(m.distance) into chunks, owners, distances
    from lexichord.matching_chunks(query, depth, documents, null, ids[:few]) as m;
    needed := coalesce((select min(i) from generate_subscripts(ids, 1) as i where i >= few and others[i] < -distances[depth]), cardinality(ids));
    if needed > few then
        select array_agg(m.chunk_id), array_agg(m.document_id), array_agg(m.distance) into chunks, owners, distances
        from lexichord.matching_chunks(query, depth, documents, null, ids[:needed]) as m;
    end if;
    return query select u.chunk, u.owner, row_number() over (order by u.distance, u.chunk), -u.distance
        from unnest(chunks, owners, distances) as u (chunk, owner, distance);
end $$;
comment on function lexichord.term_candidates(tsvector, integer, bigint[]) is
'As keyword_candidates, by lexemes that are taken as they are; a lexeme counts as often as it has positions. Internal. Readers may call it.';
