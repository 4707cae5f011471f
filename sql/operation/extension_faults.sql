-- Of an extension that is not installed yet counts the version that init would install.
create or replace function lexichord.extension_faults(engine text) returns table (
    extension text, version text, problem text, mended_in text, severity text, remedy text)
language sql stable set search_path = pg_catalog, pg_temp as $$
    select f.extension, p.version, f.problem, f.mended_in, f.severity,
           case when f.mended_in is null then 'no release mends it yet'
                else format('install %s %s or later', f.extension, f.mended_in)
                    || case when p.installed
                            then format(' and run: alter extension %I update; select lexichord.rebuild_indexes();', f.extension)
                            else '' end
           end
    from lexichord.known_faults() as f
    join (select a.name, coalesce(a.installed_version, a.default_version) as version, a.installed_version is not null as installed
          from pg_available_extensions a) as p
         on p.name = f.extension
    where extension_faults.engine = any(f.engines)
      and lexichord.release_numbers(p.version)
          between coalesce(lexichord.release_numbers(f.first_version), '{0}')
              and coalesce(lexichord.release_numbers(f.last_version), lexichord.release_numbers(p.version))
    order by f.severity, f.extension, lexichord.release_numbers(f.mended_in) desc, f.problem
$$;
comment on function lexichord.extension_faults(text) is
'The known faults of the versions on this server that an engine meets, those to refuse first, with what to do. Readers may call it.';
