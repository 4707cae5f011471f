create or replace function lexichord.database_status() returns table (
    engine text, text_config text, space text, migration integer, datasets bigint, documents bigint, chunks bigint,
    chunks_without_vector bigint, bytes bigint)
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select c.engine, c.text_config, c.space, (select max(m.number) from migration m),
           (select count(*) from dataset), n.document_count, n.chunk_count,
           (select count(*) from chunk where embedding is null),
           case when not lexichord_data.is_bound() then pg_database_size(current_database()) end
    from lexichord.configuration() c, corpus_statistics n
$$;
comment on function lexichord.database_status() is 'What the database is and holds; bytes null = the caller is a tenant, who sees what it holds itself.';
