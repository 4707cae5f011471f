-- The rows that store_rows found changed, all of them at once.
create or replace function lexichord.store_fresh_rows(table_id integer, owner bigint, recipe text) returns void
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
begin
    update fresh_row f set document_id = nextval(pg_get_serial_sequence('lexichord_data.document', 'id')), is_stored = true
    where f.document_id is null;
    insert into document (id, dataset_id, uri, title, media_type, sha256, recipe, text, metadata, text_config, card_length, analyzer_version)
    overriding system value
    select f.document_id, owner, f.uri, f.title, 'text/plain', f.sha256, store_fresh_rows.recipe, f.content, f.metadata, f.text_config, l.length, lexichord.analyzer_version()
    from fresh_row f, lexichord.lexeme_count(f.card) as l (length) where f.is_stored order by f.uri;
    insert into table_row (document_id, table_id, key) select f.document_id, store_fresh_rows.table_id, f.key from fresh_row f where f.is_stored;
    update document d
    set uri = f.uri, title = f.title, sha256 = f.sha256, recipe = store_fresh_rows.recipe, text = f.content, metadata = f.metadata,
        text_config = f.text_config, card_length = lexichord.lexeme_count(f.card),
        analyzer_version = lexichord.analyzer_version(), updated_at = now()
    from fresh_row f where not f.is_stored and d.id = f.document_id;

    delete from card_term c using fresh_row f where not f.is_stored and c.document_id = f.document_id;
    insert into card_term (lexeme, document_id, tf, card_length)
    select u.lexeme, f.document_id, cardinality(u.positions), l.length
    from fresh_row f, lexichord.lexeme_count(f.card) as l (length), unnest(f.card) as u;
    delete from chunk c using fresh_row f where not f.is_stored and c.document_id = f.document_id;
    insert into chunk (dataset_id, document_id, ordinal, heading, char_start, char_end, content, context, keyword_context,
                       lexemes, token_count, content_hash, embedding)
    select owner, f.document_id, g.ordinal, g.heading, g.char_start, g.char_end, g.content, g.context, g.keyword_context,
           l, lexichord.lexeme_count(l), lexichord.content_hash(g.content), g.embedding
    from fresh_row f join staged_row_chunk g on g.key = f.key,
         lexichord.chunk_lexemes(g.context, g.keyword_context, g.content, f.text_config) as l;
end $$;
comment on function lexichord.store_fresh_rows(integer, bigint, text) is 'Writes the documents and chunks of the rows in fresh_row; a part of store_rows. Internal.';
