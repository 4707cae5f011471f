-- A stored vector's nearest is itself, so that nothing need be compared to know the exact answer, and a sound index finds
-- it however its vectors lie; that it misses some says that it is damaged. The k nearest would not tell: of 100k random
-- vectors of 384 dimensions a sound index finds .27 of the nearest ten, and all or nearly all of the sampled ones.
create or replace function lexichord.sampled_recall(amount integer default 100) returns double precision
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    with bounds as (
        select min(c.id) as first, max(c.id) as last, least(coalesce(amount, 100), 1000, count(*)) as places from chunk c
    ), sampled as (
        select distinct on (s.id) s.embedding
        from bounds b, generate_series(0, b.places - 1) as place,
             lateral (select c.id, c.embedding from chunk c
                      where c.id >= b.first + (b.last - b.first) * place / b.places and c.embedding is not null
                      order by c.id limit 1) as s
        where s.embedding operator(@extschema:vector@.<=>) s.embedding <> 'NaN'  -- zeros are near nothing
    )
    select (count(*) filter (where n.score >= 1 - 1e-5))::float8 / nullif(count(*), 0)
    from sampled s left join lateral (
        select max(d.score) as score from lexichord.dense_candidates(s.embedding) as d) as n on true
$$;
comment on function lexichord.sampled_recall(integer) is
'The share of so many stored vectors, 1000 at most, evenly taken, that the vector index finds by themselves, 0 to 1; null if there are none. A sound index finds nearly all. Readers may call it.';
