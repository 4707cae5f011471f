-- $1 = segments, $2 = terms. The bound of a block is the sum over the terms of weight times maximum: one sum over vectors a
-- page.
create or replace function lexichord.bound_statement() returns text
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
    select $statement$
        with query as materialized (
            select w.term_id, lexichord.constant_vector(w.weight) as weight
            from lexichord.keyword_weights($2) as w
        )
        select m.segment, m.page,
               @extschema:vector@.sum(m.maxima operator(@extschema:vector@.*)
                   @extschema:vector@.subvector(q.weight, 1, @extschema:vector@.vector_dims(m.maxima))) as bounds
        from query q cross join lateral (
            select m.segment, m.page, m.maxima::@extschema:vector@.vector as maxima from lexichord_data.block_maximum m
            where m.term_id = q.term_id and m.segment = any($1) offset 0) as m
        group by m.segment, m.page
        $statement$
$$;
comment on function lexichord.bound_statement() is
'The statement that segment_proposals runs and that index_use explains: what the chunks of each block can score at most. Internal. Readers may call it.';
