create or replace function lexichord.configuration() returns table (engine text, text_config text, space text, by_document boolean)
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select c.engine, c.text_config::text, concat_ws('/', s.provider, s.model, s.dimension), c.by_document
    from configuration c, embedding_space s
$$;
comment on function lexichord.configuration() is
'What the database was given for good, engine and text configuration, and the embedding space that it is bound to (provider/model/dimension). by_document = documents have the text configuration of their language, and text_config is for those of which it is not known. Readers may call it.';
