create or replace function lexichord.shard_moves() returns table (
    switches bigint, is_moving boolean, last_number integer, numbers integer[], leaving integer[],
    from_shard integer, to_shard integer, document_numbers bigint[])
language sql stable rows 1 set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select m.switches, m.mover is not null, m.last_number,
           array(select s.number from shard s order by s.number),
           array(select s.number from shard s where s.is_leaving order by s.number),
           m.source, m.target, m.documents
    from shard_move m
$$;
comment on function lexichord.shard_moves() is
'Of the home: whether documents move between shards, how many switches from one to another have begun and ended, and the one that has begun and not ended. An answer holds where this is the same before and after. Readers may call it.';
