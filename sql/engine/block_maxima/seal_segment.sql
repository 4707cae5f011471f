-- Without loops over the terms: before corpus was analyzed, the planner at times compared each lexeme with each term, for
-- minutes. Impacts are written as text: three digits, rounded up so that no bound is too low.
create or replace function lexichord.seal_segment(number integer, chunk_ids bigint[]) returns void
language sql set search_path = pg_catalog, lexichord_data, pg_temp set work_mem = '256MB' set enable_nestloop = off set jit = off as $$
    insert into keyword_block (segment, number, chunk_ids)
    select seal_segment.number, (m.place - 1) / 4, array_agg(m.chunk_id order by m.place)
    from unnest(seal_segment.chunk_ids) with ordinality as m (chunk_id, place) group by 2;

    insert into block_maximum (term_id, segment, page, maxima)
    select h.term_id, seal_segment.number, h.block / 16000,
           ('{' || string_agg(h.block % 16000 + 1 || ':' || h.impact, ',' order by h.block) || '}/' || n.blocks)::@extschema:vector@.sparsevec
    from (
        select t.id as term_id, (m.place - 1) / 4 as block,
               ceil(1000 * max(lexichord_data.impact(cardinality(u.positions), c.token_count, n.average_length, p.k1, p.b))) / 1000 as impact
        from corpus_statistics n, lexichord_data.bm25_parameters() as p,
             unnest(seal_segment.chunk_ids) with ordinality as m (chunk_id, place) join chunk c on c.id = m.chunk_id,
             unnest(c.lexemes) as u join term t on t.lexeme = u.lexeme collate "C"
        group by 1, 2
    ) as h, lateral (select least(16000, (cardinality(seal_segment.chunk_ids) - 1) / 4 + 1 - h.block / 16000 * 16000) as blocks) as n
    group by h.term_id, h.block / 16000, n.blocks
$$;
comment on function lexichord.seal_segment(integer, bigint[]) is 'Makes a segment of the keyword index. Internal.';
