create or replace function lexichord.end_moves(mover uuid) returns void
language sql set search_path = pg_catalog, lexichord_data, pg_temp as $$
    update shard_move m set mover = null where m.mover = end_moves.mover and m.documents is null
$$;
comment on function lexichord.end_moves(uuid) is
'Says that no more documents move between shards, if nobody else moves some and no switch is open.';
