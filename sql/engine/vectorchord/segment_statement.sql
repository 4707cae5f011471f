-- terms = the text of a bm25vector, by the segment's own numbers; depth null = all. The order is ascending by the bare operator, the only one that the index knows;
-- score 0 is cut outside, because a plan without the index ranks every row. It runs with vchord_bm25's schema on the search
-- path, see segment_proposals: so each operator in it has arguments of exactly its own types.
create or replace function lexichord.segment_statement(segment integer, terms text, depth bigint) returns text
language sql stable parallel safe set search_path = pg_catalog, pg_temp as $$
    select format($statement$
        select p.chunk_id
        from (select chunk_id, vector operator(pg_catalog.<&>) @extschema:vchord_bm25@.to_bm25query(
                         '%1$s_vector_idx'::regclass, %2$L::@extschema:vchord_bm25@.bm25vector) as distance
              from %1$s order by distance limit %3$s) as p
        where p.distance < 0::real
        $statement$, lexichord.segment_name(segment), terms, coalesce(depth::text, 'all'))
$$;
comment on function lexichord.segment_statement(integer, text, bigint) is
'The statement that segment_proposals runs and that index_use explains. Internal. Readers may call it.';
