-- The one list of what a reader may do: a function or table that is not here is none of a reader's.
-- Not here are what writes or locks (hold_answers has only switches of documents between shards wait), run logs (list_runs, failed_files), recorded queries (list_queries, query_hits,
-- sample_queries), evaluations, kept contexts, and the steps of a change of space and of vechord's import and export.
create or replace function lexichord.reader_rights(
    out functions text[], out tables text[], out maintenance text[])
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
    select
    -- EXECUTE, by name, in both schemas
    array[
        'hybrid_search', 'discover_files', 'similar_documents', 'expand_context', 'search_variants', 'search_each',
        'relevance_feedback', 'feedback_chunks', 'feedback_terms', 'feedback_vector', 'variant_candidates', 'propose_candidates',
        'shard_candidates', 'file_candidates', 'shard_number', 'shard_scope', 'fans_out', 'fuse_shards', 'gather_lists', 'gather_candidates',
        'gather_centroid', 'gather_hits', 'gather_documents', 'gather_cards', 'gather_vector', 'feedback_sums', 'document_vector', 'list_shards',
        'shard_moves', 'held_numbers', 'hold_answers', 'shard_statistics', 'shard_terms',
        'read_spans', 'read_hits', 'chunk_places', 'shared_headings', 'file_surrogates', 'weigh_terms',
        'link_documents', 'question_coverage', 'related_words', 'find_definitions', 'complete_word',
        'dense_candidates', 'keyword_candidates', 'keyword_proposals', 'proposed_chunks', 'segment_proposals', 'keyword_weights', 'term_candidates', 'card_candidates',
        'exact_dense_candidates', 'exact_keyword_candidates', 'exact_term_candidates', 'dense_recall', 'sampled_recall',
        -- what searches are made of
        'search_table', 'find_indexed_table', 'documents_of_rows', 'list_indexed_tables', 'current_columns', 'key_type', 'key_expression',
        'key_values', 'row_columns', 'hidden_documents', 'list_workers', 'known_vector', 'query_vector_source', 'embed',
        'scope_documents', 'is_bound', 'own_datasets', 'own_principals', 'own_statistics', 'is_narrow', 'name_likeness', 'name_choices', 'check_boost', 'check_count', 'check_datasets', 'check_filter', 'check_search', 'check_space', 'check_variants',
        'are_weights',
        'document_facts', 'is_date', 'filter_compares', 'filter_contains', 'filter_form', 'filter_matches', 'filter_operator',
        'fuse_scope', 'fuse_terms', 'fuse_candidates', 'own_candidates', 'chunk_room', 'weighted_terms', 'term_centroid', 'dense_statement', 'keyword_statement', 'posting_statement', 'segment_statement', 'bound_space',
        'default_depth', 'default_feedback_documents', 'default_fusion', 'default_k', 'default_weights', 'dense_share',
        'rrf_constant', 'normal_form', 'split_runs', 'fold_case', 'fold_accents', 'keyword_text', 'joined_words', 'accented_lexemes', 'word_lexemes', 'join_identifier', 'whole_words', 'particle_phrases', 'exact_lexemes', 'accented_words', 'folded_lexemes',
        'adjacent_chunks', 'holding_chunks', 'absent_identifiers', 'mistyped_conditions', 'lexemes',
        'query_words', 'query_lexemes', 'compound_lexemes', 'analyzer_version', 'question_config', 'text_configs', 'lexeme_text', 'index_word', 'dense_probes',
        'segment_name', 'sealing', 'keyword_plan', 'unsealed_keywords', 'bm25_parameters', 'most_dimensions',
        -- looks
        'configuration', 'tenancy', 'find_calibration', 'find_cosine_scale', 'sample_sentences', 'id_secret', 'replica_state', 'written_position', 'database_status', 'database_identity', 'server_versions', 'server_facts', 'list_datasets', 'list_documents', 'count_documents', 'count_by',
        'list_keys', 'list_chunks', 'find_documents', 'similar_uris', 'sample_documents', 'document_text', 'read_document', 'read_chunks',
        'read_original', 'list_originals', 'read_file', 'list_files',
        'document_digests', 'document_hashes', 'document_recipes', 'document_twins', 'documents_under',
        'chunks_without_vector', 'reusable_chunks', 'kept_vectors', 'content_hash', 'vector_key',
        'index_use', 'wanted_indexes', 'vector_index', 'keyword_index', 'dense_storage', 'outgrown_indexes', 'count_faults', 'find_problems', 'reembed_status', 'reader_rights', 'reader_gaps',
        'named_extensions', 'moved_extensions', 'schema_gaps', 'release_numbers', 'known_faults', 'extension_faults'],
    -- SELECT: what these functions read, and what tells whether program and database fit
    array[
        'configuration', 'calibration', 'cosine_scale', 'embedding_space', 'dataset', 'document', 'original', 'file', 'dataset_file', 'chunk', 'term', 'card_term', 'corpus',
        'dataset_count', 'dataset_change', 'term_count', 'term_change', 'corpus_statistics', 'term_statistics', 'term_dataset', 'shard', 'shard_move', 'shard_node', 'elsewhere', 'term_elsewhere', 'elsewhere_dataset', 'term_elsewhere_dataset', 'own_elsewhere', 'own_term_elsewhere', 'global_statistics', 'global_term_statistics',
        'keyword', 'keyword_tail', 'keyword_segment', 'posting', 'index_build', 'reembedding', 'indexed_table', 'table_row', 'table_change', 'table_failure', 'worker', 'query_vector', 'migration', 'function_release'],
    -- Of the extensions' functions, those that everybody may call and that write (spill, merge), make files on the
    -- server (dump_index, pageviz), show an index's pages or what others asked for (summarize, inspect, sampled), or
    -- read all of it into memory (prewarm, evaluate). pgvector has none.
    array[
        'bm25_spill_index', 'bm25_force_merge', 'bm25_dump_index', 'bm25_debug_pageviz', 'bm25_summarize_index',
        'vchordrq_prewarm', 'vchordg_prewarm', 'vchordrq_evaluate_query_recall', 'vchordrq_sampled_values',
        'vchordrq_sampled_queries', 'bm25_page_inspect']
$$;
comment on function lexichord.reader_rights() is
'What role lexichord_reader may call and read, by name, and which of the extensions'' functions are taken from everybody but their owner and the tables''.';
