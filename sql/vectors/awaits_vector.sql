create or replace function lexichord.awaits_vector(query text, asked_at timestamptz, wait_ms integer) returns boolean
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    reason text := (select v.fault from query_vector v, embedding_space s
                    where v.space = concat_ws('/', s.provider, s.model, s.dimension)
                      and v.digest = sha256(convert_to(awaits_vector.query, 'UTF8')));
begin
    if reason is not null then
        raise exception 'the query could not be embedded: %', reason using errcode = 'external_routine_exception';
    elsif lexichord.known_vector(query) is not null then
        return false;
    elsif clock_timestamp() >= asked_at + wait_ms * interval '1 ms' then
        raise exception 'no worker has embedded the query within % ms', wait_ms using errcode = 'query_canceled',
            hint = 'Start `lexichord worker`; its answer will still be kept.';
    end if;
    return true;
end $$;
comment on function lexichord.awaits_vector(text, timestamptz, integer) is
'Whether the vector of a query is still to come; an error once it has been waited for so long, or cannot come. Internal.';
