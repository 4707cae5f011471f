-- What a reader may do: call the functions whose comment ends "Readers may call it.", and read the tables listed here.
-- That is none of those that write or lock, and not run logs
-- (list_runs, failed_files), recorded queries (list_queries, query_hits, sample_queries), evaluations, kept contexts, and the
-- steps of a change of space and of vechord's import and export.
create or replace function lexichord.reader_rights(
    out functions text[], out tables text[], out maintenance text[])
language sql stable parallel safe set search_path = pg_catalog, pg_temp as $$
    select
    -- EXECUTE, by name, in both schemas; these of lexichord_data have no comment
    array[
        'current_columns', 'hidden_documents', 'key_expression', 'key_type', 'key_values', 'row_columns',
        'is_bound', 'own_datasets', 'own_principals', 'own_statistics',
        'dense_probes', 'dense_storage', 'index_word', 'lexeme_text']
    || array(select p.proname::text from pg_proc p
             where p.pronamespace = 'lexichord'::regnamespace and obj_description(p.oid, 'pg_proc') like '% Readers may call it.'),
    -- SELECT: what these functions read, and what tells whether program and database fit
    array[
        'configuration', 'calibration', 'cosine_scale', 'embedding_space', 'dataset', 'document', 'original', 'file', 'dataset_file', 'chunk', 'term', 'card_term', 'corpus',
        'dataset_count', 'dataset_change', 'term_count', 'term_change', 'corpus_statistics', 'term_statistics', 'term_dataset',
        'keyword', 'chunk_vector', 'keyword_tail', 'keyword_segment', 'keyword_block', 'block_maximum', 'index_build', 'reembedding', 'indexed_table', 'table_row', 'table_change', 'table_failure', 'worker', 'query_vector', 'migration', 'function_release'],
    -- Of the extensions' functions, those that everybody may call and that write (spill, merge), make files on the
    -- server (dump_index, pageviz), show an index's pages or what others asked for (summarize, inspect, sampled), or
    -- read all of it into memory (prewarm, evaluate). pgvector has none.
    array[
        'bm25_spill_index', 'bm25_force_merge', 'bm25_dump_index', 'bm25_debug_pageviz', 'bm25_summarize_index',
        'vchordrq_prewarm', 'vchordg_prewarm', 'vchordrq_evaluate_query_recall', 'vchordrq_sampled_values',
        'vchordrq_sampled_queries', 'bm25_page_inspect']
$$;
comment on function lexichord.reader_rights() is
'What role lexichord_reader may call and read, by name, and which of the extensions'' functions are taken from everybody but their owner and the tables''. Readers may call it.';
