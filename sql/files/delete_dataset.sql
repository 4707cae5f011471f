create or replace function lexichord.delete_dataset(dataset text) returns bigint
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp set lock_timeout = '30s' as $$
declare
    gone bigint;
begin
    if exists (select from indexed_table t where t.dataset = delete_dataset.dataset) then
        raise exception 'the dataset % is an indexed table''s', dataset
            using errcode = 'invalid_parameter_value', hint = 'drop_index_table deletes it.';
    end if;
    perform lexichord.check_at_rest(dataset);
    gone := lexichord.delete_documents(array(
        select d.id from document d join dataset s on s.id = d.dataset_id where s.name = delete_dataset.dataset));
    delete from dataset s where s.name = delete_dataset.dataset;
    return case when found then gone end;
end $$;
comment on function lexichord.delete_dataset(text) is
'Deletes a dataset with its documents; returns how many there were, null where there is no such dataset. Not while something is being stored in it.';
