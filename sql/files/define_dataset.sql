create or replace function lexichord.define_dataset(dataset text, details jsonb default '{}', anew boolean default false) returns boolean
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
begin
    insert into dataset (name, details) values (define_dataset.dataset, define_dataset.details) on conflict (name) do nothing;
    if found then
        return true;
    end if;
    update dataset s set details = define_dataset.details where s.name = define_dataset.dataset and not anew;
    return false;
end $$;
comment on function lexichord.define_dataset(text, jsonb, boolean) is
'Makes an empty dataset, or gives one that is there these details in place of its own, unless only a new one will do; returns whether it is new.';
