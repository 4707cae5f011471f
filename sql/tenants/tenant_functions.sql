-- Those that run as their owner either take their scope from scope_documents, which knows the tenant, and hand out nothing
-- beyond it, or are the server's. As the caller each of their statements would ask for the tenant again: a third of a search's
-- time. All others run as the caller, and the policies bind them.
create or replace function lexichord.tenant_functions() returns table (function_name name, runs_as_owner boolean, for_server boolean)
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
    values ('hybrid_search'::name, true, false), ('variant_candidates', true, false), ('feedback_chunks', true, false),
           ('find_api_key', true, true), ('list_api_keys', true, true), ('record_api_calls', true, true), ('record_query', true, true),
           ('judge_query', true, true),
           ('list_runs', false, true), ('list_dataset_files', false, true), ('describe_datasets', false, true)
$$;
comment on function lexichord.tenant_functions() is
'Where tenants are on: which functions run as their owner, and which more than a reader''s role lexichord_server may call. Internal.';
