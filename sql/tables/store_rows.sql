-- One transaction. Who stores rows of a table waits for whoever does so: what is read of them here is what they are at
-- that moment, so that nobody puts an older state in the place of a newer one.
create or replace function lexichord.store_rows(table_id integer, keys text[], recipe text, space text, refused jsonb default '{}')
returns table (status text, amount bigint)
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp set standard_conforming_strings = on as $$
declare
    owner bigint := (select s.id from indexed_table t join dataset s on s.name = t.dataset where t.id = store_rows.table_id);
    again text[];
begin
    if to_regclass('pg_temp.staged_row_chunk') is null then
        raise exception 'no rows are staged: call stage_rows first' using errcode = 'object_not_in_prerequisite_state';
    end if;
    perform lexichord_data.join_writers();
    perform lexichord.check_space(space);
    perform pg_advisory_xact_lock(hashtextextended('lexichord.table', store_rows.table_id));
    create temporary table if not exists fresh_row (
        key text primary key, uri text, title text, content text, context text, metadata jsonb, sha256 text,
        document_id bigint, is_stored boolean, card tsvector, text_config regconfig) on commit delete rows;
    delete from fresh_row;
    insert into fresh_row
    select f.key, f.uri, f.title, f.content, f.context, f.metadata, f.sha256, d.id, coalesce(d.sha256 = f.sha256 and d.recipe = store_rows.recipe, false)
    from lexichord.read_rows(store_rows.table_id, array(select k from unnest(store_rows.keys) as k where not refused ? k)) as f
    left join (table_row r join document d on d.id = r.document_id) on r.table_id = store_rows.table_id and r.key = f.key;

    status := 'deleted';
    amount := lexichord.delete_documents(array(
        select r.document_id from table_row r
        where r.table_id = store_rows.table_id and r.key = any(store_rows.keys) and not exists (select from fresh_row f where f.key = r.key)));
    return next;

    update staged_row_chunk g set embedding = k.embedding
    from lexichord.kept_row_vectors(store_rows.table_id, keys, array(select s.sha256 from staged_row s)) as k
    where g.is_kept and k.text_hash = lexichord.content_hash(case when g.context <> '' then g.context || E'\n' else '' end || g.content);

    -- Rows that have changed since they were read, or whose vector somebody has deleted.
    delete from fresh_row f where not f.is_stored and (
        not exists (select from staged_row s where s.key = f.key and s.sha256 = f.sha256)
        or exists (select from staged_row_chunk g where g.key = f.key and g.is_kept and g.embedding is null));
    again := array(select k from unnest(keys) as k intersect select s.key from staged_row s except select f.key from fresh_row f);

    perform lexichord.free_uris(store_rows.table_id, owner);
    status := 'kept';
    update document d set uri = f.uri, metadata = jsonb_strip_nulls(jsonb_build_object('language', d.metadata -> 'language')) || f.metadata, updated_at = now()
    from fresh_row f
    where f.is_stored and d.id = f.document_id
        and (d.uri, d.metadata) is distinct from (f.uri, jsonb_strip_nulls(jsonb_build_object('language', d.metadata -> 'language')) || f.metadata);
    get diagnostics amount = row_count;
    return next;

    delete from fresh_row f where f.is_stored;
    update fresh_row f set text_config = s.text_config::regconfig,
        metadata = jsonb_strip_nulls(jsonb_build_object('language', s.language)) || f.metadata,
        card = lexichord.document_card(f.title, f.uri, f.content, s.text_config::regconfig)
    from staged_row s where s.key = f.key;
    perform lexichord.store_fresh_rows(store_rows.table_id, owner, store_rows.recipe);
    status := 'stored';
    amount := (select count(*) from fresh_row);
    return next;

    delete from table_failure t where t.table_id = store_rows.table_id and t.key = any(keys) and not refused ? t.key;
    insert into table_failure as t (table_id, key, reason) select store_rows.table_id, r.key, r.value #>> '{}' from jsonb_each(refused) as r
    on conflict on constraint table_failure_pkey do update set reason = excluded.reason, attempts = t.attempts + 1, failed_at = now();
    if again <> '{}' then
        insert into table_change (table_id, keys) values (store_rows.table_id, again);
    end if;
    perform lexichord.fold_statistics(from_changes => 32);
end $$;
comment on function lexichord.store_rows(integer, text[], text, text, jsonb) is
'Stores the staged rows of an indexed table as they are by now, deletes the documents of rows that are gone, and lists the `refused` ones, reasons by key. What has changed since it was staged is queued again.';
