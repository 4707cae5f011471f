create or replace function lexichord.configuration() returns table (engine text, text_config text, space text)
language sql stable set search_path = lexichord_data, pg_catalog, pg_temp as $$
    select c.engine, c.text_config::text, concat_ws('/', s.provider, s.model, s.dimension)
    from configuration c, embedding_space s
$$;
comment on function lexichord.configuration() is
'What the database was given for good: engine, text configuration, embedding space (provider/model/dimension).';
