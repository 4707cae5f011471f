-- What a role that may create in schema public can put there for others to call, with pg_catalog as its search path:
-- each function that ours name, once more with the same arguments and once with many others, and each operator between
-- all types. What cannot be made is left out: it is there already. None has more arguments, with defaults: beside an
-- extension's own function such a one makes calls ambiguous, and they fail.
create sequence public.caught;
grant usage on sequence public.caught to public;

create type public.trap as enum ('trap');
create function public.spring(text) returns public.trap language plpgsql as $$
begin
    perform pg_catalog.nextval('public.caught'::pg_catalog.regclass);
    return 'trap';
end $$;
create cast (text as public.trap) with function public.spring(text) as implicit;

create procedure public.plant(name text, arguments text, result text) language plpgsql as $plant$
begin
    execute format($f$
        create function public.%I(%s) returns %s language plpgsql as
        $$ begin
            raise warning '%%', %L;
            perform pg_catalog.nextval('public.caught'::pg_catalog.regclass);
            return null;
        end $$ $f$, name, arguments, result, name || '(' || arguments || ')');
exception when others then null;
end $plant$;

do $do$
declare
    each record;
    types text[] := '{text,name,integer,bigint,double precision,numeric,boolean,jsonb,text[],bigint[],tsvector,timestamptz,
                      regclass,public.trap}'::text[]
        || array(select format_type(oid, null) from pg_type where typname in ('vector', 'halfvec'));
begin
    for each in
        with named as (
            select distinct m[1] as name from pg_proc p, regexp_matches(p.prosrc, '([a-z_0-9]+)\(', 'g') as m
            where p.pronamespace in ('lexichord'::regnamespace, 'lexichord_data'::regnamespace)
        ), foreign_ones as (
            select p.* from pg_proc p join named n on n.name = p.proname
            where p.pronamespace not in ('lexichord'::regnamespace, 'lexichord_data'::regnamespace)
        ), known as (
            select f.proname as name, f.pronargs as arity, min(f.oid) as example from foreign_ones f group by 1, 2
        ), other (name, example, arguments) as (
            select k.name, k.example, a from known k, unnest(types) as a where k.arity in (0, 1)
            union
            select k.name, k.example, concat_ws(', ', a, b)
            from known k, unnest(types) as a, unnest(types) as b where k.arity in (1, 2)
            union
            select k.name, k.example, concat_ws(', ', a, b, c)
            from known k, unnest('{text,integer,bigint}'::text[]) as a, unnest('{text,integer,bigint}'::text[]) as b,
                 unnest('{text,integer,bigint,boolean}'::text[]) as c
            where k.arity in (1, 2, 3)
        ), planted as (
            select f.proname as name, pg_get_function_identity_arguments(f.oid) as arguments, f.prorettype as result
            from foreign_ones f where f.pronamespace = 'pg_catalog'::regnamespace
            union
            select o.name, o.arguments, p.prorettype from other o join pg_proc p on p.oid = o.example
        )
        select p.name, p.arguments, case when t.typtype = 'p' then 'text' else format_type(t.oid, null) end as result
        from planted p join pg_type t on t.oid = p.result
    loop
        call public.plant(each.name, each.arguments, each.result);
    end loop;

    for each in
        select a, b, r from unnest(types) as a, unnest(types) as b, unnest('{boolean,double precision,text,jsonb}'::text[]) as r
    loop
        call public.plant('planted_' || each.r, each.a || ', ' || each.b, each.r);
    end loop;
    for each in
        select o.name, a, b, o.result
        from (select unnest('{=,<>,<,>,<=,>=,~,!~,~*,~~,@>,<@,?,&&,@@}'::text[]), 'boolean'
              union all select unnest('{+,-,*,/,%,^,<=>,<->,<#>,<@>,<&>}'::text[]), 'double precision'
              union all select unnest('{||,->>,#>>}'::text[]), 'text'
              union all select '->', 'jsonb') as o (name, result), unnest(types) as a, unnest(types) as b
    loop
        begin
            execute format('create operator public.%s (function = public.%I, leftarg = %s, rightarg = %s)',
                           each.name, 'planted_' || each.result, each.a, each.b);
        exception when others then null;
        end;
    end loop;
end $do$;
