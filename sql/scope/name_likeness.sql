-- Dice's coefficient of the pairs of letters, with the ends as pairs of their own: 1 for the same, 0 for
-- less than 0.4, which nobody takes for a misspelling.
-- lexichord.errors.likeness is the same in Python.
create or replace function lexichord.name_likeness(one text, other text) returns double precision
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
    with pair as (
        select distinct n.side, substr(n.name, at, 2) as letters
        from (values (1, format(' %s ', lower(left(one, 100)))), (2, format(' %s ', lower(left(other, 100))))) as n (side, name),
             generate_series(1, length(n.name) - 1) as at
    )
    select case when s.share >= 0.4 then s.share else 0 end
    from (select 2.0 * (count(*) - count(distinct p.letters)) / count(*) as share from pair p) as s
$$;
comment on function lexichord.name_likeness(text, text) is 'How alike two names are in their letters, 0 to 1. Internal. Readers may call it.';
