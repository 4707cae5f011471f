-- Each search asks: from one value to the next in an index, not over every document.
create or replace function lexichord.text_configs(documents bigint[] default null) returns regconfig[]
language plpgsql stable parallel safe set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    usual regconfig := (select c.text_config from configuration c);
    own_ids bigint[];
    own regconfig;
    found_configs regconfig[] := '{}';
begin
    loop
        own := (select d.text_config from document d where d.text_config > coalesce(own::oid, 0::oid) order by d.text_config limit 1);
        exit when own is null;
        found_configs := found_configs || own;
    end loop;
    if found_configs = '{}' then
        return array[usual];
    elsif lexichord_data.is_bound() then
        own_ids := lexichord_data.own_datasets();
        found_configs := array(select c from unnest(found_configs) as c
                               where exists (select from document d where d.dataset_id = any(own_ids) and d.text_config = c));
        if usual <> all(found_configs) and exists (select from document d where d.dataset_id = any(own_ids) and d.text_config is null) then
            found_configs := found_configs || usual;
        end if;
    elsif documents is not null and cardinality(documents) <= 1000 then  -- of more it takes longer than it spares
        found_configs := array(select distinct coalesce(d.text_config, usual) from document d where d.id = any(documents) order by 1);
    elsif usual <> all(found_configs) and exists (select from document d where d.text_config is null) then
        found_configs := found_configs || usual;
    end if;
    return case found_configs when '{}' then array[usual] else found_configs end;
end $$;
comment on function lexichord.text_configs(bigint[]) is
'The text configurations of documents, null = of all; of more than 1,000 documents those of all. Internal. Readers may call it.';
