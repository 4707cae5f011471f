-- Who asks is the role of the session, or the one that it has set: inside a function that runs as its owner, current_user
-- is the owner. Whoever has the owner's rights is bound to no tenant. A setting names the tenant for lexichord_server alone,
-- for whoever writes SQL can make it.
create or replace function lexichord.make_tenant_views() returns void
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp set standard_conforming_strings = on as $make$
begin
    execute format($function$
        create or replace function lexichord_data.is_bound() returns boolean
        language sql stable parallel safe
        return not pg_catalog.pg_has_role(coalesce(nullif(pg_catalog.current_setting('role'), 'none'), session_user)::pg_catalog.name, %s::pg_catalog.oid, 'usage')
        $function$, (select c.relowner from pg_class c where c.oid = 'lexichord_data.document'::regclass));

    create or replace function lexichord_data.own_datasets() returns bigint[]
    language plpgsql stable parallel safe security definer set search_path = pg_catalog, lexichord_data, pg_temp as $$
    declare
        caller name := coalesce(nullif(current_setting('role'), 'none'), session_user);
    begin
        if not lexichord_data.is_bound() then
            return null;
        elsif pg_has_role(caller, 'lexichord_server', 'usage') then
            return array(select s.id from tenant t join dataset s on s.tenant_id = t.id where t.name = current_setting('lexichord.tenant', true));
        end if;
        return array(select s.id from tenant_role r join dataset s on s.tenant_id = r.tenant_id where r.role_name = caller);
    end $$;

    create or replace view lexichord_data.corpus_statistics with (security_invoker = true) as
    select n.chunk_count, n.token_count, n.document_count, n.card_token_count, n.average_length
    from lexichord_data.own_statistics() as n;

    -- In how many chunks of which dataset a term is: what was added up and what was appended since.
    create or replace view lexichord_data.term_dataset with (security_invoker = true) as
    select k.term_id, k.dataset_id, k.df from lexichord_data.term_count k
    union all
    select c.term_id, c.dataset_id, c.df from lexichord_data.term_change c;

    create or replace view lexichord_data.term_statistics with (security_invoker = true) as
    select t.id, t.lexeme, coalesce(case when (select lexichord_data.is_bound())
        then (select sum(o.df) from lexichord_data.term_dataset o
              where o.term_id = t.id and o.dataset_id = any ((select lexichord_data.own_datasets())::bigint[]))
        else (select sum(o.df) from lexichord_data.term_dataset o where o.term_id = t.id) end, 0)::bigint as df
    from lexichord_data.term t;
end $make$;
comment on function lexichord.make_tenant_views() is
'Has statistics, and whoever asks for the caller''s datasets, know the tenant. Internal.';
