-- Names that the caller may see: of a tenant its own.
create or replace function lexichord.check_datasets(datasets text[], out message text, out hint text)
language plpgsql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    own_ids bigint[] := lexichord_data.own_datasets();
    missing text[] := array(select n from unnest(datasets) as n
                            where not exists (select from dataset s where s.name = n and (own_ids is null or s.id = any(own_ids))));
begin
    if missing <> '{}' then
        select 'there is no dataset ' || string_agg(quote_literal(n), ', ') into message from unnest(missing) as n;
        hint := coalesce('Take one of ' || lexichord.name_choices(missing, array(
            select s.name from dataset s where own_ids is null or s.id = any(own_ids))), 'Nothing is stored yet');
    end if;
end $$;
comment on function lexichord.check_datasets(text[]) is
'Which of these datasets are not there, as an error says it, and which are; null where all are. Internal. Readers may call it.';
