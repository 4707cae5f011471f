-- As vechord's own (version 7), but with a number where those are random: the order of chunks is that of their ids.
create or replace function lexichord.ordered_uuid(moment timestamptz, number bigint) returns uuid
language sql immutable set search_path = pg_catalog, pg_temp as $$
    select (lpad(to_hex((extract(epoch from moment) * 1000)::bigint), 12, '0') || '70008' || lpad(to_hex(number), 15, '0'))::uuid
$$;
comment on function lexichord.ordered_uuid(timestamptz, bigint) is 'A uuid that sorts by a moment, then by a number. Internal.';
