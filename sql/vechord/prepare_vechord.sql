create or replace function lexichord.prepare_vechord(namespace text, datasets text[] default null)
returns table (dimension integer, finds_functions boolean)
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp set client_min_messages = warning as $$
declare
    scope bigint[] := lexichord.scope_documents(datasets);
    missing bigint;
    extension text;
begin
    if (select engine from configuration) <> 'vectorchord' then
        raise exception 'vechord needs the engine vectorchord, this database has another'
            using errcode = 'feature_not_supported', hint = 'Run lexichord copy into a database of that engine and export there.';
    end if;
    perform lexichord.refuse_vechord_rows(namespace);
    select count(*) into missing from chunk c where c.embedding is null and (scope is null or c.document_id = any(scope));
    if missing > 0 then
        raise exception '% chunks have no vector, and vechord''s tables want one', missing
            using errcode = 'invalid_parameter_value', hint = 'Ingest again with an embedder, or name datasets that have them.';
    end if;
    foreach extension in array array['vchord', 'vchord_bm25', 'pg_tokenizer'] loop
        begin
            execute format('create extension if not exists %I cascade', extension);
            if extension = 'pg_tokenizer' then
                perform tokenizer_catalog.list_preload_models(); -- any call: it refuses to load unless it is preloaded
            end if;
        exception when others then
            raise exception 'vechord needs the extension %: %', extension, rtrim(sqlerrm, '.')
                using errcode = 'feature_not_supported',
                      hint = format('Install it, name it in shared_preload_libraries, start the server anew and run: create extension %s;', extension);
        end;
    end loop;
    select s.dimension into dimension from embedding_space s;
    select s.reset_val ~ 'bm25_catalog' and s.reset_val ~ 'tokenizer_catalog' into finds_functions
    from pg_settings s where s.name = 'search_path';
    return next;
end $$;
comment on function lexichord.prepare_vechord(text, text[]) is
'Makes sure that an export to a vechord namespace can be done, or raises what is in its way. Creates the extensions that vechord needs; finds_functions = the database''s search_path is as vechord needs it.';
