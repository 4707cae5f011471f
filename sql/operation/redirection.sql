-- By the names of its columns and arguments: the new function may have more of both. Where it lacks one, or has it with
-- another type, the statement fails.
create or replace function lexichord.redirection(function oid) returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
    select format('create or replace function %I.%I(%s) returns %s language sql %s set search_path = pg_catalog, pg_temp as %L',
                  n.nspname, p.proname, pg_get_function_arguments(p.oid), pg_get_function_result(p.oid),
                  case p.provolatile when 'i' then 'immutable' when 's' then 'stable' else 'volatile' end,
                  format('select %s from lexichord.%I(%s)', coalesce(a.columns, '*'), p.proname, a.arguments))
    from pg_proc p
    join pg_namespace n on n.oid = p.pronamespace
    cross join lateral (
        select string_agg(quote_ident(u.name), ', ' order by u.place) filter (where u.mode <> 'i') as columns,
               string_agg(format('%I => $%s', u.name, u.place), ', ' order by u.place) filter (where u.mode = 'i') as arguments
        from unnest(coalesce(p.proargmodes::text[], array_fill('i'::text, array[p.pronargs::integer])), p.proargnames)
             with ordinality as u (mode, name, place)
    ) as a
    where p.oid = function
$$;
comment on function lexichord.redirection(oid) is
'The statement that has a function of an earlier version, which views still use, ask the one that has its name now. Internal.';
