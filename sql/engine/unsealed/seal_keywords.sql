-- Ingest calls it every few seconds: while chunks are few their impacts are soon made anew, by a mean length that then lasts.
create or replace function lexichord.seal_keywords() returns boolean
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
begin
    perform lexichord.refresh_impacts() from corpus_statistics n where n.chunk_count < 20000;
    return false;
end $$;
comment on function lexichord.seal_keywords() is
'Seals nothing: this engine''s keyword index takes chunks as they come. While they are few it sees to their impacts, see refresh_impacts.';
