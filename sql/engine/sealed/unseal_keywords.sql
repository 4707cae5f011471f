-- Whoever seals just now is waited for.
create or replace function lexichord.unseal_keywords() returns void
language sql set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select pg_advisory_xact_lock(hashtextextended('lexichord.seal_keywords', 0));
    update keyword_segment s set superseded = true;
    insert into keyword_tail (chunk_id) select c.id from chunk c on conflict do nothing;
$$;
comment on function lexichord.unseal_keywords() is
'Gives up all segments of the keyword index, so that seal_keywords makes one of all chunks. Internal.';
