-- The corpus first, as every writer: a deleted document is locked before its trigger locks the corpus.
create or replace function lexichord.delete_documents(documents bigint[]) returns bigint
language sql set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select from corpus for no key update;
    with gone as (delete from document d where d.id = any(documents) returning d.id)
    select count(*) from gone
$$;
comment on function lexichord.delete_documents(bigint[]) is
'Deletes documents with all that hangs on them, in one transaction; returns how many there were.';
