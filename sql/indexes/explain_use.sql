-- Volatile, because EXPLAIN is not allowed in a function that is not.
create or replace function lexichord.explain_use(index_name text, statement text, settings jsonb, out used boolean, out plan text)
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp set standard_conforming_strings = on
set enable_seqscan = on set enable_sort = on as $$
declare
    -- A scan of a bitmap says it in a line of its own, a shard has a number. Made here: below, the search path may have a
    -- schema in which others create functions.
    named constant text := format('\y%s(_\d+)?\y', index_name);
    before jsonb;
    line text;
begin
    used := false;
    if to_regclass('lexichord_data.' || index_name) is null or statement is null then
        return;
    end if;
    before := (select jsonb_object_agg(s.key, coalesce(current_setting(s.key, true), '')) from jsonb_each_text(settings) as s);
    perform set_config(s.key, s.value, true) from jsonb_each_text(settings) as s;
    for line in execute 'explain ' || statement loop
        used := used or line ~ named;
        plan := coalesce(plan, substring(line from '([A-Z][A-Za-z ]+Scan.* on (?:chunk|chunk_vector|keyword|block_maximum|keyword_part_\d+))(?:_\d+)?\y'));
    end loop;
    perform pg_catalog.set_config(s.key, s.value, true) from pg_catalog.jsonb_each_text(before) as s;
end $$;
comment on function lexichord.explain_use(text, text, jsonb) is
'Whether a statement uses an index under these settings, with how EXPLAIN says the rows are read; plan null = there is no such index or statement. Internal. Readers may call it.';
