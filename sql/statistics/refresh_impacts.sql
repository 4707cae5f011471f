-- Impacts hold the mean length of a chunk as it was when they were made. A tenth more or less moves a score by less than
-- b * .1 of the part that depends on length, alike for all chunks. It is of all tenants: where they are on, only `anyway`, which reindex asks for, changes it, so that
-- what one stores changes no score of another's.
create or replace function lexichord.refresh_impacts(anyway boolean default false) returns boolean
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    average double precision;
    is_alone boolean;
begin
    for is_alone in select unnest(array[false, true]) loop  -- again once writers are held: one may have changed the mean, or done this
        if is_alone then
            perform lexichord.hold_writers();
        end if;
        select n.token_count::float8 / n.chunk_count into average
        from corpus_statistics n where n.token_count > 0 and (anyway or abs(ln(n.token_count::float8 / n.chunk_count / n.average_length)) > 0.1
                                                                    and not (select c.has_tenants from configuration c));
        if average is null then
            return is_alone;
        end if;
    end loop;
    update corpus set average_length = average;
    perform lexichord_data.replace_impacts();
    return true;
end $$;
comment on function lexichord.refresh_impacts(boolean) is
'Makes the impacts anew by the chunks'' mean length of now, if it is a tenth off, or anyway. Returns whether it did, or another meanwhile.';
