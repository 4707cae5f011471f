-- Half of what a chunk takes to store, and what no other writer has to wait for: so one session analyzes what comes next while
-- another stores. Chunks that are staged later are analyzed as they are stored; those that are analyzed must stay as they are.
create or replace function lexichord.analyze_staged(text_config text default null) returns void
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
begin
    delete from staged_lexemes;
    insert into staged_lexemes (ordinal, text_config, analyzer_version, lexemes)
    select g.ordinal, own, lexichord.analyzer_version(), lexichord.chunk_lexemes(g.context, g.keyword_context, g.content, own)
    from staged_chunk g, configuration c, coalesce(analyze_staged.text_config::regconfig, c.text_config) as own;
end $$;
comment on function lexichord.analyze_staged(text) is
'Analyzes the chunks that the session staged under text_config, null = the database''s, so that store_document need not.';
