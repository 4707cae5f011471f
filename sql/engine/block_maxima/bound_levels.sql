-- Counting what is above a level takes a hundredth of what to read all bounds one by one does. The number of blocks falls
-- about exponentially with the level, so the next one is guessed by the logarithms of two counts.
create or replace function lexichord.bound_levels(
    bounds @extschema:vector@.vector[], wanted bigint, out below double precision, out blocks bigint, out above double precision)
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
declare
    level double precision;
    held bigint;
    fewer double precision;  -- blocks above the level `above`
begin
    select 3 * sqrt(sum(@extschema:vector@.vector_norm(b) ^ 2) / sum(@extschema:vector@.vector_dims(b))), sum(@extschema:vector@.vector_dims(b))
    into level, blocks from unnest(bounds) as b;
    below := 0;
    for step in 1..12 loop
        held := (select sum(bit_count(a.above)) from lexichord.blocks_above(bounds, level) as a);
        if held >= wanted then
            below := level;
            blocks := held;
        else
            above := level;
            fewer := greatest(held, 0.5);
        end if;
        exit when held between wanted and 1.6 * wanted or blocks < wanted;
        level := coalesce(below + (above - below) * least(greatest(ln(blocks / (1.25 * wanted)) / ln(blocks / fewer), 0.05), 0.95), 1.5 * level);
    end loop;
end $$;
comment on function lexichord.bound_levels(@extschema:vector@.vector[], bigint) is
'A level that as many bounds are above as are wanted, and not many more if that can be, how many blocks these are, and a level that fewer are above, null if none was met. Internal. Readers may call it.';
