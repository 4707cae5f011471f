-- Names that the caller may see: of a tenant its own. Only the first ones, so that the error stays a line.
create or replace function lexichord.check_datasets(datasets text[]) returns void
language plpgsql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    own_ids bigint[] := lexichord_data.own_datasets();
    most constant integer := 5;
    missing text;
    known text;
begin
    select string_agg(quote_literal(n), ', ') into missing
    from unnest(datasets) as n where not exists (select from dataset s where s.name = n and (own_ids is null or s.id = any(own_ids)));
    if missing is null then
        return;
    end if;
    select string_agg(quote_literal(name), ', ' order by name) filter (where place <= most)
           || case when count(*) > most then format(' and %s more', count(*) - most) else '' end into known
    from (select s.name, row_number() over (order by s.name) as place from dataset s where own_ids is null or s.id = any(own_ids)) as own;
    raise exception 'there is no dataset %', missing using errcode = 'no_data_found', table = 'dataset',
        hint = coalesce('Take one of ' || known, 'Nothing is stored yet');
end $$;
comment on function lexichord.check_datasets(text[]) is
'Raises an error that names unknown datasets, and up to five that are in reach.';
