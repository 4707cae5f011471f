-- What names the dataset follows it; only the log of calls stays as it was written.
create or replace function lexichord.rename_dataset(dataset text, new_name text) returns void
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp set lock_timeout = '30s' as $$
declare
    known bigint;
    taken text;
    fault record;
begin
    perform lexichord.hold_writers();  -- one who knows the old name would make it anew
    select s.id into known from dataset s where s.name = rename_dataset.dataset for update;
    if not found then
        fault := lexichord.check_datasets(array[dataset]);
        raise exception '%', fault.message using errcode = 'no_data_found', table = 'dataset', hint = fault.hint;
    elsif coalesce(new_name, '') !~ '[^[:space:]]' then
        raise exception 'the dataset needs a name' using errcode = 'invalid_parameter_value';
    elsif exists (select from dataset s where s.name = new_name) then
        raise exception 'there is a dataset % already', new_name using errcode = 'invalid_parameter_value',
            hint = 'Choose another name, or move the documents there.';
    end if;
    perform lexichord.check_at_rest(dataset);
    select m.uri into taken
    from document d, lexichord.moved_uri(d.uri, dataset, new_name) as m (uri)
    where d.dataset_id = known and m.uri <> d.uri and exists (select from document e where e.dataset_id = known and e.uri = m.uri) limit 1;
    if taken is not null then
        raise exception '% holds % already', dataset, taken using errcode = 'invalid_parameter_value', hint = 'Delete one of the two documents first.';
    end if;
    update dataset s set name = new_name where s.id = known;
    update document d set uri = lexichord.moved_uri(d.uri, dataset, new_name)
    where d.dataset_id = known and starts_with(d.uri, format('upload://%s/', dataset));
    update chunk_context c set uri = lexichord.moved_uri(c.uri, dataset, new_name)
    where c.dataset_id = known and starts_with(c.uri, format('upload://%s/', dataset));
    update indexed_table t set dataset = new_name where t.dataset = rename_dataset.dataset;
    update api_key k set datasets = case when new_name = any(k.datasets) then array_remove(k.datasets, dataset)
                                         else array_replace(k.datasets, dataset, new_name) end
    where dataset = any(k.datasets);
    update file f set datasets = array_replace(f.datasets, dataset, new_name) where dataset = any(f.datasets);
    update run_file f set uri = lexichord.moved_uri(f.uri, rename_dataset.dataset, new_name)
    from run r where r.id = f.run_id and r.dataset = rename_dataset.dataset
        and starts_with(f.uri, format('upload://%s/', rename_dataset.dataset));
    update run r set dataset = new_name where r.dataset = rename_dataset.dataset;
    update query q set datasets = array_replace(q.datasets, dataset, new_name) where dataset = any(q.datasets);
    update query_hit h set dataset = new_name, uri = lexichord.moved_uri(h.uri, rename_dataset.dataset, new_name) where h.dataset = rename_dataset.dataset;
end $$;
comment on function lexichord.rename_dataset(text, text) is
'Gives a dataset another name, which none has: API keys, an indexed table, runs and recorded queries that name it follow, and so do the uris of files that were sent. Not while something is being stored in it.';
