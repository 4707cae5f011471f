-- Half of what a chunk takes to store, and what no other writer has to wait for: so one session analyzes what comes next while
-- another stores. It then waits with its transaction open for as long as the other takes, whatever the server's bound on that.
create or replace function lexichord.analyze_staged(text_config text default null) returns void
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp as $$
begin
    perform set_config('idle_in_transaction_session_timeout', '0', true);
    insert into staged_lexemes (ordinal, text_config, lexemes)
    select g.ordinal, own, lexichord.chunk_lexemes(g.context, g.keyword_context, g.content, own)
    from staged_chunk g, configuration c, coalesce(analyze_staged.text_config::regconfig, c.text_config) as own;
end $$;
comment on function lexichord.analyze_staged(text) is
'Analyzes the chunks that the session staged under text_config, null = the database''s, so that store_document need not.';
