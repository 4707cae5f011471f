"""A call of each SQL function: the reads, which leave everything as it was, and the others."""

import json
from hashlib import sha256
from typing import Any

from tests.sql.corpus import SPACE

VECTOR = "[1,0,0,0]"
BY_VECTOR = {"query": "w1 w2", "query_vector": VECTOR, "query_space": SPACE}
BY_TERMS = {"terms": "w1:1", "depth": 100}
WEIGHTS = [0.35, 0.65]
FILTER = {"key": "year", "op": "gt", "value": 2001}
API_CALLS = '[{"key_id": 1, "called_at": "2026-01-31", "kind": "search", "status": 200}]'
SCOPE_AND_ALL: dict[str, Any] = {
    **{
        "query": "w1 w2",
        "terms": None,
        "query_vector": VECTOR,
        "depth": 100,
        "datasets": ["north"],
    },
    **{"documents": None, "uri_prefix": None, "filter": FILTER},
    **{"weights": WEIGHTS, "boost": None, "query_space": SPACE},
}
PROPOSED = '{"(keyword,f,1,1,1,0.5)","(dense,f,4,2,1,0.25)"}'
OF_THE_SERVER = {"written_position"}  # which Postgres tells every role itself
WITHOUT_ARGUMENTS = """
    bm25_parameters bound_space hidden_documents list_indexed_tables list_workers configuration
    tenancy is_bound own_datasets own_principals own_statistics find_calibration find_cosine_scale
    count_faults
    database_identity database_status default_depth default_feedback_documents default_fusion
    default_k default_weights rrf_constant dense_probes document_recipes find_problems
    id_secret replica_state
    written_position index_use index_statements keyword_plan keyword_index
    vector_tables index_faults
    wanted_indexes bound_statement
    sealing unsealed_keywords known_faults text_configs list_datasets list_keys most_dimensions
    moved_extensions named_extensions outgrown_indexes list_files reader_gaps reader_rights
    reembed_status sampled_recall schema_gaps server_facts server_versions
"""
READS: dict[str, dict[str, Any]] = {
    **{name: {} for name in WITHOUT_ARGUMENTS.split()},
    "dense_share": {"space": "local/all-MiniLM-L6-v2/384"},
    "are_weights": {"weights": WEIGHTS},
    "card_candidates": {"query": "animal1"},
    "key_expression": {"relation": "lexichord_data.chunk", "names": ["id"], "row_name": "a"},
    "key_type": {"relation": "lexichord_data.chunk", "name": "id"},
    "key_values": {"relation": "lexichord_data.chunk", "names": ["id"], "key": "k"},
    "row_columns": {"names": ["a", "b"], "row_name": "a"},
    "known_vector": {"query": "w1"},
    "query_vector_source": {"query": "w1"},
    "check_boost": {"boost": '{"1": 0.5}'},
    "check_count": {"argument": "latest", "amount": 1},
    "name_choices": {"wanted": ["nort"], "names": ["north", "south"]},
    "name_likeness": {"one": "nort", "other": "north"},
    "similar_uris": {"reference": "1.mdx"},
    "check_datasets": {"datasets": ["north"]},
    "check_filter": {"filter": FILTER, "documents": [1, 2]},
    "check_search": {**BY_VECTOR, "k": 1, "depth": 100, "fusion": "rrf", "weights": WEIGHTS},
    "check_space": {"space": SPACE},
    "check_variants": {"variants": '[{"name": "x", "text": "w1"}]', "k": 1, "depth": 100},
    "chunk_places": {"chunk_ids": [1]},
    "chunks_without_vector": {"after": 0, "batch": 5},
    "content_hash": {"content": "w1"},
    "dense_candidates": {"query_vector": VECTOR},
    "dense_recall": {"query_vector": VECTOR},
    "dense_statement": {"scoped": False},
    "discover_files": BY_VECTOR,
    "document_digests": {"dataset": "north", "uris": ["north/1.md"]},
    "document_hashes": {"dataset": "north"},
    "document_text": {"document": 1},
    "document_twins": {"dataset": "north", "sha256s": ["0"]},
    "documents_under": {"dataset": "north", "folder": "north"},
    "exact_dense_candidates": {"query_vector": VECTOR},
    "exact_keyword_candidates": {"query": "w1"},
    "exact_term_candidates": BY_TERMS,
    "expand_context": {"chunk_ids": [1]},
    "feedback_chunks": BY_VECTOR,
    "feedback_terms": {"query": "w1", "chunks": [1, 4]},
    "feedback_vector": {"query_vector": VECTOR, "chunks": [1, 4]},
    "file_surrogates": {**BY_VECTOR, "files": [1, 2]},
    "filter_compares": {"had": "1", "operator": "gt", "wanted": "2"},
    "filter_contains": {"had": '"ab"', "wanted": "a"},
    "filter_form": {"filter": FILTER},
    "filter_matches": {"metadata": {"year": 2002}, "filter": FILTER},
    "filter_operator": {"name": "="},
    "is_date": {"value": "2026-01-31"},
    "find_definitions": {"terms": ["w1"]},
    "find_documents": {"reference": "1.md"},
    "extension_faults": {"engine": "plain"},
    "fuse_terms": {
        **BY_TERMS,
        **{"query_vector": VECTOR, "scope": [1], "fusion": "rrf", "weights": WEIGHTS},
    },
    "fuse_candidates": {"candidates": PROPOSED, "room": 9, "fusion": "zscore", "weights": WEIGHTS},
    "own_candidates": {**BY_TERMS, "query_vector": VECTOR},
    "chunk_room": {"depth": 100},
    "fuse_scope": {**SCOPE_AND_ALL, "fusion": "rrf"},
    "hybrid_search": {**BY_VECTOR, "datasets": ["north"], "filter": FILTER},
    "is_narrow": {"documents": [1]},
    "kept_vectors": {"documents": [1], "recipe": "test"},
    "keyword_candidates": {"query": "w1"},
    "keyword_proposals": {"terms": "w1:1", "depth": 100},
    "proposed_chunks": {"terms": "w1:1", "depth": 100},
    "keyword_weights": {"terms": "w1:1"},
    "vector_index": {"vectors": "embedding"},
    "keyword_statement": {"terms": "w1", "depth": 100, "scoped": False},
    "segment_name": {"number": 1},
    "near_chunks": {"query_vector": VECTOR, "depth": 9, "documents": [1], "exactly": True},
    "segment_proposals": {"segments": [], "terms": "w1:1", "depth": 100, "documents": [1]},
    "blocks_above": {"bounds": '{"[1,0.25]"}', "level": 0.5},
    "bound_levels": {"bounds": '{"[1,0.25]"}', "wanted": 1},
    "constant_vector": {"value": 0.5},
    "explain_use": {
        "index_name": "document_uri",
        "statement": "select from lexichord_data.chunk",
        "settings": {},
    },
    "block_chunks": {
        "segments": [1],
        "firsts": [0],
        "bounds": '{"[1,0.25]"}',
        "level": 0.5,
        "most": 1,
    },
    "segment_statement": {"segment": 1, "terms": "{1:1}", "depth": 100},
    "keyword_text": {"input": "NDAs"},
    **{
        name: {"input": "Straße"}
        for name in ("normal_form", "fold_case", "fold_accents", "bound_marks")
    },
    **{name: {"form": "set up plug-in 保密协议"} for name in ("split_runs", "joined_words")},
    "join_identifier": {"token": "A-1"},
    "option_words": {"form": "grep -i"},
    "whole_words": {"form": "A-1 🚀", "text_config": "english"},
    "accented_lexemes": {"words": "naïve", "text_config": "english"},
    "folded_lexemes": {"words": "naïve", "text_config": "english"},
    "particle_phrases": {"form": "log in"},
    "accented_words": {"words": "naïve"},
    "exact_lexemes": {"words": ["a1", "log in"]},
    "adjacent_chunks": {"first": "w1", "second": "w2", "depth": 100, "enough": 1},
    "holding_chunks": {"lexeme": "w1", "depth": 100},
    "word_lexemes": {"input": "naïve"},
    "compound_lexemes": {"words": "w1 tale web hook", "text_config": "english"},
    "query_words": {"query": "NDAs"},
    "absent_identifiers": {"query": "A-1 w1"},
    "mistyped_conditions": {"filter": FILTER},
    "analyzer_version": {},
    "lexemes": {"input": "NDAs"},
    "lexeme_text": {"lexemes": "w1:1"},
    "index_word": {"lexeme": "w1"},
    "dense_storage": {"chunks": 60_000},
    "query_lexemes": {"query": "NDAs"},
    "question_config": {"question": "NDAs"},
    "link_documents": {"words": ["animal1"]},
    "list_chunks": {"document": 1},
    "complete_word": {"beginning": "w"},
    "list_documents": {"uri_prefix": "north/1"},
    "count_documents": {"uri_prefix": "north/1"},
    "count_by": {"key": "title", "uri_prefix": "north/1"},
    "document_facts": {
        **dict.fromkeys(("dataset", "uri", "title", "media_type"), "a"),
        "metadata": {},
    },
    "propose_candidates": BY_VECTOR,
    "question_terms": {"query": "w1 w2"},
    "card_term_candidates": {"terms": "animal1:1"},
    "question_coverage": {"question": "w1", "chunk_ids": [1]},
    "read_chunks": {"document": 1},
    "read_document": {"document": 1},
    "read_original": {"document": 1},
    "list_originals": {"dataset": "north"},
    "read_file": {"file_id": "none"},
    "read_hits": {"chunk_ids": [1]},
    "read_spans": {"documents": [1], "starts": [0], "ends": [5]},
    "related_words": {"question": "w1", "chunk_ids": [1, 2, 3]},
    "release_numbers": {"version": "1.5.0-dev"},
    "relevance_feedback": BY_VECTOR,
    "reusable_chunks": {"documents": [1], "recipe": "test"},
    "sample_sentences": {"amount": 5},
    "sample_documents": {"dataset": "north", "documents": 2, "without": []},
    "scope_documents": {"datasets": ["north"], "filter": FILTER},
    "search_each": {"queries": ["w1"], "documents": [1, 2]},
    "search_variants": {"variants": '[{"name": "x", "text": "w1"}]'},
    "shared_headings": {"documents": [1, 3]},
    "similar_documents": {"source": 1},
    "term_candidates": BY_TERMS,
    "term_centroid": {"terms": "w1:1"},
    "variant_candidates": BY_VECTOR,
    "vector_key": {"content": "w1", "context": "", "metadata": {}},
    "weigh_terms": {"texts": ["w1 w2"]},
    "weighted_terms": {"terms": '{"w1": 1}'},
}
# The ways through the reads that READS does not take.
SCOPED_FILTER = {
    "and": [
        {"key": "year", "op": "gte", "value": 2001},
        {"key": "kind", "op": "start with", "value": "l"},
        {"or": [{"odd": True}, {"key": "kind", "op": "contains", "value": "a"}]},
        {"key": "kind", "op": "nin", "value": ["letter"]},
    ]
}
SCOPE = {"datasets": ["north"], "uri_prefix": "north", "filter": SCOPED_FILTER}
VARIANTS = json.dumps(
    [
        {"name": "a", "text": "w0", "vector": [1, 0, 0, 0]},
        {"name": "b", "text": "w1", "terms": {"w2": 2}, "weight": 0.5, "documents": [1, 2]},
    ]
)
MORE: list[tuple[str, dict[str, Any]]] = [
    ("hybrid_search", {**BY_VECTOR, "boost": {"1": 1}, "fusion": "rrf"}),
    ("hybrid_search", {"query": "w0", **SCOPE}),
    ("discover_files", {**BY_VECTOR, **SCOPE, "aggregate": "mean"}),
    ("search_variants", {"variants": VARIANTS, "query_space": SPACE}),
    ("relevance_feedback", {**BY_VECTOR, "least_coherence": -1}),
    ("search_each", {"queries": ["w0"], "documents": [1, 2], "query_vectors": [VECTOR]}),
    ("expand_context", {"chunk_ids": [1, 2], "whole_section": True}),
    ("link_documents", {"words": ["w0", "animal1", "TTO", "tale"]}),
    ("keyword_candidates", {"query": "w0 w1 w2"}),
    ("term_candidates", {"terms": "w0:1,2"}),
    ("exact_dense_candidates", {"query_vector": VECTOR, "documents": [1, 2]}),
    ("exact_keyword_candidates", {"query": "w0 w1", "documents": [1, 2]}),
    ("scope_documents", SCOPE),
    ("check_filter", {"filter": SCOPED_FILTER, "documents": [1, 2, 3, 4]}),
    ("filter_compares", {"had": '"2024-01-01"', "operator": "before", "wanted": '"2025-01-01"'}),
    ("keyword_text", {"input": "getUserName_v2 5.2.1 1,000 NDAs"}),
    ("vector_key", {"content": "w0", "context": "", "metadata": {"context_by": "x"}}),
    ("dense_statement", {"scoped": True}),
    ("keyword_statement", {"terms": "w0", "depth": 10, "scoped": True}),
    ("list_documents", {"filter": SCOPED_FILTER, "page_size": 2}),
    ("find_documents", {"reference": "1", "document": 1}),
]
# What writes, locks or is none of a reader's, in an order in which each has something to do.
VECHORD = {"namespace": "n"}
VECHORD_TABLE = {**VECHORD, "chunk_table": "public.n_chunk"}
WAIT = {"wait_ms": 5000}
HITS = json.dumps(
    [{"chunk_id": 1, "dataset": "north", "uri": "a", "char_start": 0, "char_end": 1, "score": 1}]
)
# Of an indexed table, which is there only once it is indexed; what is in ROW_TYPED takes a row of
# ours, and the others call it.
OF_A_TABLE = {"search_table", "find_indexed_table", "documents_of_rows", "current_columns", "embed"}
ROW_TYPED = {
    *("define_table", "create_table_triggers", "renamed_uri", "is_renamed", "rename_table"),
    *("table_fault", "rows_statement", "documents_of_rows", "part_change"),
    *("search_table", "prepare_query"),
}
TABLE = {"source": "public.n_document"}
KEYS = {"table_id": 1, "keys": ["1"]}
OTHERS: list[tuple[str, dict[str, Any]]] = [
    ("primary_key", TABLE),
    ("check_table_key", {**TABLE, "key": ["key"]}),
    ("filter_columns", {**TABLE, "filter": "title <> 'x'"}),
    ("table_partitions", TABLE),
    ("joined_columns", {"names": ["a"], "separator": " "}),
    ("lexeme_count", {"lexemes": "a:1,2"}),
    (
        "chunk_lexemes",
        {"context": "a", "keyword_context": "b", "content": "c", "text_config": "english"},
    ),
    ("document_card", {"title": "a", "uri": "b", "content": "c", "text_config": "english"}),
    ("analyze_documents", {"most": 1}),
    ("may_choose_space", {}),
    ("choose_space", {"provider": "local", "model": "other", "dimension": 4}),
    (
        "index_table",
        {**TABLE, "text": ["title", "text"], "title": "title", "metadata": ["title"]}
        | {"context": ["title"], "filter": "title <> 'x'", "uri": "https://example.com/{key}"},
    ),
    ("find_indexed_table", TABLE),
    ("take_changes", {"most": 10}),
    ("read_rows", KEYS),
    ("changed_rows", {**KEYS, "recipe": "r"}),
    ("kept_row_vectors", {**KEYS, "sha256s": ["0"]}),
    ("known_row_texts", {**KEYS, "sha256s": ["0"]}),
    ("stage_rows", {}),
    ("store_rows", {**KEYS, "recipe": "r", "space": SPACE, "refused": {"2": "empty"}}),
    ("store_fresh_rows", {"table_id": 1, "owner": 1, "recipe": "r"}),
    ("free_uris", {"table_id": 1, "owner": 1}),
    ("finish_changes", {"changes": [1]}),
    ("next_keys", {"table_id": 1, "after": "0", "batch": 2}),
    ("queue_gone", {"table_id": 1, "most": 2}),
    ("list_table_failures", TABLE),
    ("retry_table_failures", TABLE),
    ("follow_tables", {}),
    ("alter_index_table", {**TABLE, "filter": ""}),
    ("guard_documents", {}),
    ("start_worker", {"host": "h"}),
    ("rest_worker", {"worker": 1, "seconds": 1}),
    ("end_worker", {"worker": 1}),
    ("request_vector", {"query": "w0"}),
    ("take_queries", {"most": 1}),
    (
        "set_query_vectors",
        {"space": SPACE, "digests": [sha256(b"w0").digest()], "vectors": ["{1,0,0,0}"]}
        | {"faults": [None]},
    ),
    ("awaits_vector", {"query": "w0", "asked_at": "2024-01-01", "wait_ms": 1}),
    ("embed", {"query": "w0"}),
    ("drop_table_triggers", TABLE),
    ("drop_index_table", TABLE),
    ("forget_table", {"table_id": 1}),
    ("column_list", {"alias": "c", "columns": ["a", "b"]}),
    ("ordered_uuid", {"moment": "2024-01-01", "number": 1}),
    ("redirection", {"function": 1}),
    ("set_vectors", {"chunk_ids": [122], "vectors": [VECTOR], "space": SPACE}),
    ("start_run", {"dataset": "north", "source": "s", "total": 3}),
    ("record_files", {"run_id": 1, "uris": ["north/1.md"], "status": "failed", "reason": "r"}),
    ("failed_files", {"dataset": "north"}),
    ("touch_run", {"run_id": 1}),
    ("prune_documents", {"run_id": 1, "uris": ["north/3.md"]}),
    ("cancel_run", {"run_id": 1}),
    ("interrupt_run", {"run_id": 1}),
    ("finish_run", {"run_id": 1}),
    ("list_runs", {"datasets": ["north"], "runs": [1]}),
    ("list_run_files", {"run_id": 1}),
    ("list_dataset_files", {"dataset": "north"}),
    ("describe_datasets", {}),
    ("keep_contexts", {"dataset": "north", "uri": "u", "keys": ["k"], "contexts": ["c"]}),
    ("known_contexts", {"keys": ["k"]}),
    ("is_unchanged", {"document": 1, "updated_at": "2024-01-01"}),
    ("create_api_key", {"name": "n", "digest": b"0" * 32}),
    ("find_api_key", {"digest": b"0" * 32}),
    ("list_api_keys", {}),
    ("rotate_api_key", {"key": 1, "digest": b"1" * 32, "overlap": "1 day"}),
    ("record_api_calls", {"calls": API_CALLS, "keep": True}),
    ("list_api_calls", {}),
    ("forget_api_calls", {"older_than": "0"}),
    ("revoke_api_key", {"key": 1}),
    (
        "record_query",
        {"intent": "i", "confidence": 0.5, "abstained": False, "hits": HITS}
        | {"version": "1", "query": "how"},
    ),
    ("list_queries", {}),
    ("query_hits", {"query_id": 1}),
    ("judge_query", {"query_id": 1, "is_right": True}),
    ("recorded_passages", {}),
    ("judged_questions", {}),
    ("sample_queries", {}),
    ("forget_queries", {"older_than": "0"}),
    ("sample_queries", {}),
    (
        "record_evaluation",
        {"set_name": "s", "strategy": "t", "ks": [1], "version": "1"}
        | {"queries": '[{"id": "q", "text": "w0", "files": ["a"], "entities": {"e": ["v"]}}]'}
        | {"results": '[{"query_id": "q", "ms": 1, "metrics": {"m": 1}}]'},
    ),
    ("list_evaluations", {}),
    ("evaluation_results", {"evaluation": 1}),
    ("compare_evaluations", {"a": 1, "b": 1}),
    ("forget_evaluations", {"older_than": "0"}),
    ("hold_reembed", {}),
    ("hold_writers", {}),
    ("start_reembed", {"provider": "p", "model": "m", "dimension": 4, **WAIT}),
    ("reembed_index_statements", {"filled": True}),
    ("chunks_without_other", {"after": 0, "batch": 10}),
    (
        "set_other_vectors",
        {"space": "p/m/4", "chunk_ids": [1], "row_versions": ["0"]} | {"vectors": [VECTOR]},
    ),
    ("space_overlap", {"query_vector": VECTOR, "other_vector": VECTOR}),
    ("record_comparison", {"comparison": {"a": 1}}),
    ("swap_spaces", {"incomplete": True, **WAIT}),
    ("swap_spaces", {"incomplete": True, **WAIT}),
    ("drop_other", WAIT),
    ("drop_other_index", {}),
    ("swap_indexes", {}),
    ("swap_indexes", {}),
    ("make_indexes", {"anew": True}),
    ("rebuild_indexes", {}),
    ("build_indexes", {}),
    ("recount", {}),
    ("fold_statistics", {"from_changes": 1}),
    ("segment_chunks", {"segments": [1]}),
    ("unseal_keywords", {}),
    ("seal_keywords", {}),
    ("seal_segment", {"number": 99, "chunk_ids": [1]}),
    ("keep_hidden_postings", {"segment": "none", "mean": 1.0}),
    ("drop_segment", {"number": 1}),
    ("vechord_columns", VECHORD),
    ("vechord_tables", VECHORD),
    ("vechord_digests", {**VECHORD_TABLE, "after": None, "batch": 10}),
    ("vechord_documents", {**VECHORD_TABLE, "keys": ["1"]}),
    ("vechord_chunks", {**VECHORD_TABLE, "keys": ["1"]}),
    ("vechord_orphans", VECHORD_TABLE),
    ("refuse_vechord_rows", VECHORD),
    ("prepare_vechord", VECHORD),
    ("write_vechord", VECHORD),
    ("grant_reader", {}),
    ("set_metadata", {"document": 1, "changes": {}}),
    ("keep_original", {"document": 1, "content": b"x"}),
    (
        "keep_file",
        {"file_id": f"file-{'0' * 24}", "name": "a", "media_type": "m", "purpose": "p"}
        | {"content": b"x"},
    ),
    ("add_dataset_files", {"dataset": "north", "run_id": 1, "attributes": {}}),
    ("delete_file", {"file_id": f"file-{'0' * 24}"}),
    ("define_dataset", {"dataset": "d"}),
    ("rename_dataset", {"dataset": "d", "new_name": "e"}),
    ("moved_uri", {"uri": "u", "dataset": "d", "new_dataset": "e"}),
    ("check_at_rest", {"dataset": "e"}),
    ("move_documents", {"documents": [2], "dataset": "e"}),
    ("dataset_to_move_to", {"documents": [2], "dataset": "e"}),
    ("check_move", {"documents": [2], "dataset_id": 1}),
    ("follow_moved", {"datasets": ["d"], "uris": ["u"], "new_dataset": "e"}),
    ("move_sent_files", {"documents": [2], "dataset_id": 1}),
    ("delete_dataset", {"dataset": "e"}),
    ("set_cosine_scale", {"space": SPACE, "unlike": 0.1, "alike": 1, "sentences": 60}),
    (
        "set_calibration",
        {"space": SPACE, "constant": -5, "cosine": 9, "passage": 3, "holds": [0.9], "lacks": [0.1]},
    ),
    ("delete_documents", {"documents": [1]}),
    ("stage_chunks", {}),
    ("analyze_staged", {}),
    (
        "store_document",
        {"dataset": "d", "uri": "u", "title": "t", "media_type": "m"}
        | {"sha256": "0" * 64, "recipe": "r", "content": "c", "metadata": {}},
    ),
    ("seal_keywords", {}),
    ("refresh_impacts", {}),
    ("tenant_policies", {}),
    ("tenant_functions", {}),
    ("turn_tenants_on", {}),
    ("add_tenant", {"name": "t", "datasets": ["d"]}),
    ("list_tenants", {}),
    ("guard_tenants", {}),
    ("make_tenant_views", {}),
    ("drop_tenant", {"name": "t"}),
]
