create or replace function lexichord.end_switch(switches bigint) returns void
language sql set search_path = pg_catalog, lexichord_data, pg_temp as $$
    update shard_move m set switches = m.switches + 1, source = null, target = null, documents = null
    where m.switches = end_switch.switches and m.documents is not null
$$;
comment on function lexichord.end_switch(bigint) is
'Says that a switch is over; it is named by how many had begun and ended with it, so that two may say so.';
