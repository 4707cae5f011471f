-- term_change is empty at one time and large at another: a plan made for the one would read all of it, once a term.
create or replace function lexichord.feedback_sums(chunks bigint[]) returns table (
    amount bigint, direction real[], centroid real[], lexemes text[], weights double precision[], space text)
language plpgsql stable rows 1
set search_path = pg_catalog, lexichord_data, pg_temp
set enable_seqscan = off set jit = off as $$
begin
    space := (select b.space from lexichord.bound_space() as b);
    select count(*), @extschema:vector@.avg(@extschema:vector@.l2_normalize(c.embedding)::@extschema:vector@.vector)::real[],
           @extschema:vector@.avg(c.embedding)::@extschema:vector@.vector::real[]
    into amount, direction, centroid from chunk c where c.id = any(chunks) and c.embedding is not null;
    select coalesce(array_agg(s.lexeme), '{}'), coalesce(array_agg(s.share * ln(1 + (n.chunk_count - t.df + 0.5::float8) / (t.df + 0.5::float8))), '{}')
    into lexemes, weights
    from (select u.lexeme, sum(cardinality(u.positions)::float8 / c.token_count) as share
          from chunk c, unnest(c.lexemes) as u where c.id = any(chunks) group by u.lexeme) as s
    join global_term_statistics t on t.lexeme = s.lexeme collate "C", global_statistics n;
    return next;
end $$;
comment on function lexichord.feedback_sums(bigint[]) is
'One row: what feedback_terms and feedback_vector learn from chunks of one shard, as sums: how many have a vector, the mean of their directions and of the vectors themselves, the space of these, and the relevance model''s weights by lexeme. Readers may call it.';
