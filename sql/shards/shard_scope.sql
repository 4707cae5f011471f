-- What one shard knows nothing of, another may: a dataset, a key of a filter. What all miss, gather_candidates refuses.
create or replace function lexichord.shard_scope(
    number integer, datasets text[], documents bigint[], uri_prefix text, filter jsonb
) returns table (own_datasets text[], own_documents bigint[], missing text[], problem text)
language plpgsql stable rows 1 set search_path = pg_catalog, lexichord_data, pg_temp as $$
begin
    if lexichord.shard_number() <> number then
        raise exception 'this is not shard %: the row of the shard was moved', number
            using errcode = 'object_not_in_prerequisite_state', hint = 'select lexichord.fan_out() on the coordinator.';
    end if;
    if datasets is not null then
        own_datasets := array(select s.name from dataset s where s.name = any(datasets));
        missing := array(select n from unnest(datasets) as n where n <> all(own_datasets));
    end if;
    if documents is not null then
        own_documents := array(select d.id from document d where d.id = any(documents));
    end if;
    if filter is not null then
        perform set_config('lexichord.keys_are_known', 'off', true);  -- of an earlier call of the transaction
        begin
            perform lexichord.scope_documents(own_datasets, null, uri_prefix, filter);
        exception when invalid_parameter_value then
            problem := sqlerrm;
        end;
        perform set_config('lexichord.keys_are_known', 'on', true);
    end if;
    return next;
end $$;
comment on function lexichord.shard_scope(integer, text[], bigint[], text, jsonb) is
'What of a scope is on this shard, which datasets are not, and why it would refuse the filter. Internal. Readers may call it.';
