-- One transaction: the document is replaced with all its chunks, or nothing changes. Its id stays.
create or replace function lexichord.store_document(
    dataset text, uri text, title text, media_type text, sha256 text, recipe text, content text, metadata jsonb,
    twin bigint default null, space text default null, text_config text default null,
    unless_stored boolean default false, rereads bigint default null, sent_file text default null
) returns table (document_id bigint, status text, chunks bigint)
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    owner bigint;
    own regconfig := text_config::regconfig;
    card tsvector := lexichord.document_card(title, uri, content, own);
    length bigint := lexichord.lexeme_count(card);
    is_same boolean;
    kept jsonb := '{}';  -- metadata that were given, or set since
begin
    perform lexichord_data.join_writers();
    perform lexichord.check_space(space);
    insert into dataset (name) values (store_document.dataset) on conflict (name) do nothing;
    select s.id into strict owner from dataset s where s.name = store_document.dataset;
    if sent_file is not null then
        perform from dataset_file x where x.dataset_id = owner and x.file_id = sent_file for key share;
        if not found then
            raise exception 'it was deleted or moved before it was stored' using errcode = 'invalid_parameter_value';
        end if;
    end if;
    loop  -- whoever stores or deletes the same document is waited for, and may have left it or not
        status := 'replaced';
        select d.id, d.sha256 = store_document.sha256 and d.recipe = store_document.recipe into document_id, is_same
        from document d where d.dataset_id = owner and d.uri = store_document.uri for no key update;
        exit when found;
        status := 'inserted';
        insert into document as d (dataset_id, uri, title, media_type, sha256, recipe, text, metadata, text_config, card_length, analyzer_version)
        values (owner, store_document.uri, store_document.title, store_document.media_type, store_document.sha256,
                store_document.recipe, store_document.content, store_document.metadata, own, length, lexichord.analyzer_version())
        on conflict do nothing returning d.id into document_id;
        exit when found;
    end loop;

    if status = 'replaced' and is_same and unless_stored then
        delete from staged_chunk;
        delete from staged_lexemes;
        status := 'skipped';
        chunks := (select count(*) from chunk c where c.document_id = store_document.document_id);
        return next;
        return;
    end if;

    if rereads is not null then
        if document_id <> rereads then  -- also where it is a new one
            raise exception 'it was deleted or moved while it was read again' using errcode = 'invalid_parameter_value';
        end if;
        select d.metadata - '{flags,language}'::text[] into kept from document d where d.id = store_document.document_id;
    end if;

    -- While the old chunks and the old recipe are still there.
    update staged_chunk g set embedding = k.embedding
    from lexichord.kept_vectors(array[document_id, twin], store_document.recipe) as k
    where g.embedding is null and k.key = lexichord.vector_key(g.content, g.context, g.metadata);

    if status = 'replaced' then
        update document d
        set title = store_document.title, media_type = store_document.media_type, sha256 = store_document.sha256,
            recipe = store_document.recipe, text = store_document.content, metadata = store_document.metadata || kept,
            text_config = own, card_length = length, analyzer_version = lexichord.analyzer_version(), updated_at = now()
        where d.id = store_document.document_id;
        delete from original o where o.document_id = store_document.document_id and o.sha256 <> store_document.sha256;
    end if;

    delete from card_term c where c.document_id = store_document.document_id;
    insert into card_term (lexeme, document_id, tf, card_length)
    select u.lexeme, store_document.document_id, cardinality(u.positions), length from unnest(card) as u;

    delete from chunk c where c.document_id = store_document.document_id;
    with taken as (
        delete from staged_chunk returning *
    ), stored as (
        insert into chunk (dataset_id, document_id, ordinal, heading, char_start, char_end, page, content, context,
                           keyword_context, lexemes, token_count, metadata, content_hash, embedding)
        select owner, store_document.document_id, g.ordinal, g.heading, g.char_start, g.char_end, g.page, g.content, g.context,
               g.keyword_context, l, lexichord.lexeme_count(l), g.metadata,
               lexichord.content_hash(g.content), g.embedding
        from taken g
        left join staged_lexemes s on s.ordinal = g.ordinal and s.analyzer_version = lexichord.analyzer_version()
                                  and s.text_config = coalesce(own, (select c.text_config from configuration c))
        cross join coalesce(s.lexemes, lexichord.chunk_lexemes(g.context, g.keyword_context, g.content, own)) as l
        returning 1
    )
    select count(*) into chunks from stored;
    delete from staged_lexemes;
    perform lexichord.fold_statistics(from_changes => 32);
    return next;
end $$;
comment on function lexichord.store_document(text, text, text, text, text, text, text, jsonb, bigint, text, text, boolean, bigint, text) is
'Stores a document with the chunks that the session staged, in place of an earlier one of the same dataset and uri. Chunks staged without a vector keep that of the same chunk before, or in the document `twin` of the same source, if the recipe is the same. space = the one that the staged vectors are of; text_config = that of its language, null = the database''s; unless_stored = one of the same source and recipe stays as it is (status skipped); rereads = the document that is read again: its metadata stay, and where it is gone or elsewhere by now nothing is stored; sent_file = the kept file that it is of: where the dataset no longer holds that nothing is stored.';
