-- seconds: what is not there yet was stored after the last transaction that is, so it is no older than that. What comes
-- after a long pause would look as old as the pause: only what is still missing a moment later counts. A primary that is
-- gone sends nothing, so is_following says whether one is connected (of that view's columns everybody may read the pid).
-- One that took over from a primary may lack what that wrote last, and is at a lower position until as much is written.
create or replace function lexichord.replica_state(
    "position" text default null,
    out is_replica boolean, out is_following boolean, out seconds double precision, out reached boolean, out id_secret uuid)
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
    received pg_lsn := pg_last_wal_receive_lsn();
begin
    is_replica := pg_is_in_recovery();
    is_following := exists (select from pg_stat_wal_receiver);
    id_secret := lexichord.id_secret();
    reached := replica_state."position" is null or lexichord.written_position()::pg_lsn >= replica_state."position"::pg_lsn;
    seconds := 0;
    if is_replica and pg_last_wal_replay_lsn() < received then
        perform pg_sleep(0.02);
        if pg_last_wal_replay_lsn() < received then
            seconds := extract(epoch from clock_timestamp() - coalesce(pg_last_xact_replay_timestamp(), pg_postmaster_start_time()));
        end if;
    end if;
end $$;
comment on function lexichord.replica_state(text) is
'Whether this server is a replica, whether it follows a primary, how many seconds it is behind, whether it has reached a position in the write-ahead log, by default any, and the secret of its ids, by which databases are told apart. Readers may call it.';
