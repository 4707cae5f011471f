-- Exactly, without either index: what differs is then the models' doing.
create or replace function lexichord.space_overlap(query_vector @extschema:vector@.halfvec, other_vector @extschema:vector@.halfvec, k integer default lexichord.default_k())
returns double precision
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    with bound as (
        select c.id from chunk c where c.embedding is not null order by (c.embedding operator(@extschema:vector@.<=>) query_vector) + 0, c.id limit k
    ), other as (
        select c.id from chunk c where c.other_embedding is not null order by (c.other_embedding operator(@extschema:vector@.<=>) other_vector) + 0, c.id limit k
    )
    select (select count(*) from bound b join other o using (id))::double precision
           / nullif(greatest((select count(*) from bound), (select count(*) from other)), 0)
$$;
comment on function lexichord.space_overlap(@extschema:vector@.halfvec, @extschema:vector@.halfvec, integer) is
'The share, 0 to 1, of the k chunks nearest to a query by the database''s vectors that are also among the k nearest by the other ones; the query''s vector is given in both spaces.';
