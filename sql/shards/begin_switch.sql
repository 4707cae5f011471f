-- Committed before either of the two transactions that it is about, so that no answer mistakes what is between them.
create or replace function lexichord.begin_switch(
    mover uuid, from_shard integer, to_shard integer, document_numbers bigint[]) returns void
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
begin
    update shard_move m
    set switches = m.switches + 1, source = from_shard, target = to_shard, documents = document_numbers
    where m.mover = begin_switch.mover and m.documents is null;
    if not found then
        raise exception 'another one moves documents between shards now'
            using errcode = 'object_in_use', hint = 'Wait until it has ended.';
    end if;
end $$;
comment on function lexichord.begin_switch(uuid, integer, integer, bigint[]) is
'Says which documents are about to be on one shard instead of another.';
