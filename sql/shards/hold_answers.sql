-- An answer that was disturbed again and again takes the lock with others; a switch takes it alone.
create or replace function lexichord.hold_answers(shared boolean) returns void
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
begin
    if shared then
        perform pg_advisory_xact_lock_shared(hashtextextended('lexichord.switch', 0));
    else
        perform pg_advisory_xact_lock(hashtextextended('lexichord.switch', 0));
    end if;
end $$;
comment on function lexichord.hold_answers(boolean) is
'Has switches between shards wait until the transaction ends, if shared; else answers that were disturbed by them. Readers may call it.';
