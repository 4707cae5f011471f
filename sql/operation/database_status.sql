create or replace function lexichord.database_status() returns table (
    engine text, text_config text, space text, migration integer, datasets bigint, documents bigint, chunks bigint,
    chunks_without_vector bigint, outdated_documents bigint, bytes bigint)
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select c.engine, c.text_config, c.space, (select max(m.number) from migration m),
           (select count(*) from dataset), n.document_count, n.chunk_count,
           (select count(*) from chunk where embedding is null),
           (select count(*) from document d where d.analyzer_version < lexichord.analyzer_version()),
           case when not lexichord_data.is_bound() then pg_database_size(current_database()) end
    from lexichord.configuration() c, corpus_statistics n
$$;
comment on function lexichord.database_status() is 'What the database is and holds; outdated_documents = those whose lexemes an earlier version''s analyzer made; bytes null = the caller is a tenant, who sees what it holds itself. Readers may call it.';
