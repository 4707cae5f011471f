-- Only the first ones, so that an error stays a line; lexichord.errors.some_names is the same in Python.
create or replace function lexichord.name_choices(wanted text[], names text[]) returns text
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
    with nearest as (
        select n, row_number() over (order by (select max(lexichord.name_likeness(w, n)) from unnest(wanted[1:3]) as w) desc, n collate "C") as place
        from unnest(names) as n
    )
    select string_agg(quote_literal(n), ', ' order by place) filter (where place <= 5)
           || case when count(*) > 5 then format(' and %s more', count(*) - 5) else '' end
    from nearest
$$;
comment on function lexichord.name_choices(text[], text[]) is
'Names for an error''s line, those most like what was wanted first: five, and how many more there are; null where there is none. Internal. Readers may call it.';
