-- Without loops over the terms: before corpus was analyzed, the planner at times compared each lexeme with each term, for
-- minutes.
create or replace function lexichord.seal_segment(number integer, chunk_ids bigint[]) returns void
language sql set search_path = pg_catalog, lexichord_data, pg_temp set work_mem = '256MB' set enable_nestloop = off set jit = off as $$
    with held as (
        select t.id as term_id, c.id as chunk_id,
               greatest(round(16 * lexichord_data.impact(cardinality(u.positions), c.token_count, n.average_length, p.k1, p.b)), 1) / 16 as impact
        from corpus_statistics n, lexichord_data.bm25_parameters() as p, chunk c, unnest(c.lexemes) as u join term t on t.lexeme = u.lexeme collate "C"
        where c.id = any(seal_segment.chunk_ids)
    ), placed as (
        select h.*, (row_number() over (partition by h.term_id, h.impact order by h.chunk_id) - 1) / 512 as row_number from held h
    )
    insert into posting (segment, term_id, impact, amount, chunk_ids)
    select seal_segment.number, p.term_id, p.impact, count(*), array_agg(p.chunk_id order by p.chunk_id)
    from placed p group by p.term_id, p.impact, p.row_number
$$;
comment on function lexichord.seal_segment(integer, bigint[]) is 'Makes a segment of the keyword index. Internal.';
