-- The lock is the session's: it falls with the client. A long statement of a client that was killed would keep it.
create or replace function lexichord.hold_reembed() returns boolean
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
    perform set_config('client_connection_check_interval', '1s', false);
    return pg_try_advisory_lock(hashtextextended('lexichord reembed', 0));
end $$;
comment on function lexichord.hold_reembed() is
'Takes the lock that whoever changes the embedding space holds, until the session ends; false = another has it.';
