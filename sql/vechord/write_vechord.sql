-- The keyword column holds all that our keyword index sees. The vector was made of context and content already.
create or replace function lexichord.write_vechord(namespace text, datasets text[] default null)
returns table (documents bigint, chunks bigint)
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp set standard_conforming_strings = on as $$
declare
    scope bigint[] := coalesce(lexichord.scope_documents(datasets), array(select d.id from document d));
begin
    execute format('lock table public.%I, public.%I in share row exclusive mode',
                   namespace || '_defaultdocument', namespace || '_defaultchunk');
    perform lexichord.refuse_vechord_rows(namespace);
    execute format($statement$  -- one statement: texts and chunks of one moment
        with written as (
            insert into public.%I (uid, title, text, created_at)
            select lexichord.ordered_uuid(now(), d.id), d.title, d.text, d.created_at
            from document d where d.id = any($1)
            returning 1
        ), chunked as (
            insert into public.%I (uid, doc_id, text, vec, keyword)
            select lexichord.ordered_uuid(now(), row_number() over (order by c.document_id, c.ordinal)),
                   lexichord.ordered_uuid(now(), c.document_id), c.content, c.embedding::@extschema:vector@.vector,
                   tokenizer_catalog.tokenize(
                       concat_ws(E'\n', nullif(c.context, ''), nullif(c.keyword_context, ''), c.content),
                       'bert_base_uncased')::bm25_catalog.bm25vector
            from chunk c where c.document_id = any($1)
            returning 1
        )
        select (select count(*) from written), (select count(*) from chunked)
        $statement$, namespace || '_defaultdocument', namespace || '_defaultchunk')
    into documents, chunks using scope;
    return next;
end $$;
comment on function lexichord.write_vechord(text, text[]) is
'Fills the empty default tables of a vechord namespace, which its library has made, with the documents and chunks of datasets.';
