create or replace function lexichord.changed_rows(table_id integer, keys text[], recipe text)
returns table (key text, title text, content text, context text, sha256 text)
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select f.key, f.title, f.content, f.context, f.sha256
    from lexichord.read_rows(table_id, keys) as f
    left join (table_row r join document d on d.id = r.document_id) on r.table_id = $1 and r.key = f.key
    where d.id is null or d.sha256 <> f.sha256 or d.recipe <> $3
$$;
comment on function lexichord.changed_rows(integer, text[], text) is 'Of rows of an indexed table those that are not stored as they are by now.';
