-- Subtracted, and one bit of what is left: pgvector compares 16,000 bounds in .03 ms.
create or replace function lexichord.blocks_above(bounds @extschema:vector@.vector[], level double precision)
returns table (page bigint, above bit varying)
language plpgsql immutable parallel safe rows 10 set search_path = pg_catalog, pg_temp as $$
declare
    levels constant @extschema:vector@.vector := lexichord.constant_vector(level);
begin
    return query
    select b.page, @extschema:vector@.binary_quantize(b.bounds operator(@extschema:vector@.-)
        @extschema:vector@.subvector(levels, 1, @extschema:vector@.vector_dims(b.bounds)))::bit varying
    from unnest(blocks_above.bounds) with ordinality as b (bounds, page);
end $$;
comment on function lexichord.blocks_above(@extschema:vector@.vector[], double precision) is
'Of each page of bounds a bit a block: 1 where its bound is above the level. Internal. Readers may call it.';
