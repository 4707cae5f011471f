create or replace function lexichord.dataset_to_move_to(documents bigint[], dataset text) returns bigint
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
begin
    if coalesce(dataset, '') !~ '[^[:space:]]' then
        raise exception 'the dataset needs a name' using errcode = 'invalid_parameter_value';
    end if;
    insert into dataset (name, tenant_id)
    select dataset_to_move_to.dataset, min(s.tenant_id)  -- no moment passes in which what was a tenant's is nobody's
    from document d join dataset s on s.id = d.dataset_id where d.id = any(documents) having count(*) > 0
    on conflict (name) do nothing;
    return (select s.id from dataset s where s.name = dataset_to_move_to.dataset);
end $$;
comment on function lexichord.dataset_to_move_to(bigint[], text) is
'The dataset of a name; a new one, of the tenant of the documents that are to be moved there, if there is none. Internal.';
