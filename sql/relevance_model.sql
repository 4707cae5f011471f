-- RM3 (Abdul-Jaleel et al., 2004) with idf: .7 of the weight to the 30 strongest terms of the chunks, .3 to the query's own.
-- Both parts sum to 1. The constants are those of relative_evidence, which says how they were chosen.
create or replace function lexichord.relevance_model(
    query text, chunk_ids bigint[], weights double precision[]
) returns table (lexeme text, weight double precision)
language sql stable rows 40
set search_path = lexichord_data, public, pg_catalog, pg_temp as $$
    with own as (
        select q.lexeme, cardinality(q.positions) * t.idf as weight
        from unnest(lexichord.lexemes(query)) as q,
        lateral (select ln(1 + (n.chunk_count - t.df + 0.5::float8) / (t.df + 0.5::float8)) as idf
                 from corpus n, term t where t.lexeme = q.lexeme collate "C") as t
    ), fed as (
        select u.lexeme, sum(g.weight * cardinality(u.positions) / c.token_count) as weight
        from unnest(chunk_ids, weights) as g (id, weight) join chunk c on c.id = g.id, unnest(c.lexemes) as u
        group by u.lexeme
    ), strongest as (
        select f.lexeme, f.weight * ln(1 + (n.chunk_count - t.df + 0.5::float8) / (t.df + 0.5::float8)) as weight
        from fed f join term t on t.lexeme = f.lexeme collate "C", corpus n
        order by 2 desc, t.id limit 30
    ), parted as (
        select o.lexeme, 0.3 * o.weight / nullif(sum(o.weight) over (), 0) as weight from own o
        union all
        select s.lexeme, 0.7 * s.weight / nullif(sum(s.weight) over (), 0) from strongest s
    )
    select p.lexeme, sum(p.weight) from parted p group by p.lexeme
$$;
comment on function lexichord.relevance_model(text, bigint[], double precision[]) is
'What a relevant chunk talks about, estimated from chunks and how much each counts: lexemes with weights that sum to 1.';
