-- Documents move between shards. The home keeps what answers have to know: that some move, and which are just being
-- switched from one shard to another.
create table lexichord_data.shard_move (
    is_only     boolean primary key default true check (is_only),
    switches    bigint not null default 0,  -- grows when a switch begins, and when it ends
    mover       uuid,                       -- who moves, or did when it was cut off
    last_number integer not null default 0, -- that a shard was given: ids name it, and so no other gets it
    source      integer,                    -- of the switch that has begun and not ended
    target      integer,
    documents   bigint[],
    check ((documents is null) = (source is null) and (documents is null) = (target is null))
);
insert into lexichord_data.shard_move (last_number) select coalesce(max(s.number), 0) from lexichord_data.shard s;
alter table lexichord_data.shard add column is_leaving boolean not null default false;  -- gets no new documents
-- A shard's number is read from where its ids begin.
do $$
declare
    first_id bigint := (select (s.last_value >> 48) << 48 from lexichord_data.chunk_id_seq s);
begin
    if first_id > 0 then
        execute format('alter table lexichord_data.document alter column id set start with %s', first_id);
        execute format('alter table lexichord_data.chunk alter column id set start with %s', first_id);
    end if;
end $$;
