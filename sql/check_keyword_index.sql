create or replace function lexichord.check_keyword_index() returns void
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
    -- Another code for who cannot mend it, so that no client tries to.
    mends boolean := has_function_privilege('lexichord.refresh_keyword_index()', 'execute');
begin
    if lexichord.keyword_index_is_stale() then
        raise exception 'the keyword index may be damaged, because the server went down after rows were written'
            using errcode = case when mends then 'object_not_in_prerequisite_state' else 'insufficient_privilege' end,
                  hint = case when mends then 'Run: ' else 'Have a role that may write run: ' end
                         || 'select lexichord.refresh_keyword_index();';
    end if;
end $$;
comment on function lexichord.check_keyword_index() is
'Raises unless the keyword index can be read: see keyword_index_is_stale.';
