-- Whoever moved before is taken over from: its next switch is refused.
create or replace function lexichord.start_moves(mover uuid, leaving integer) returns void
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
begin
    update shard s set is_leaving = s.number is not distinct from leaving
    where s.is_leaving is distinct from (s.number is not distinct from leaving);
    update shard_move m set mover = start_moves.mover;
end $$;
comment on function lexichord.start_moves(uuid, integer) is
'Says that documents begin to move between shards, away from one that is to get no more if one is named; others are to get some again.';
