"""The SQL interface: a change of what others may call is a change of this file."""

import hashlib
import re
from pathlib import Path

import pytest

from lexichord.db.schema import FOLDERS
from lexichord.types import SearchOptions
from tests.conftest import ROOT
from tests.sql.corpus import (
    NO_FUNCTIONS,
    OF_AN_ENGINE,
    RESULT,
    Connection,
    inner_functions,
    offered,
    value,
)

CANDIDATES = "chunk_id bigint, document_id bigint, rank bigint, score double precision"
PAGE = "page_size bigint, descending boolean, past_at timestamp with time zone, past_key text"
SCOPE = "datasets text[], documents bigint[], uri_prefix text, filter jsonb"
API_KEY = (
    "TABLE(key_id bigint, name text, datasets text[], reads boolean, writes boolean, "
    "deletes boolean, requests_per_minute integer, created_at timestamp with time zone, "
    "expires_at timestamp with time zone, revoked_at timestamp with time zone, "
    "last_used_at timestamp with time zone, renews bigint, valid boolean, "
    "tenant text, principals text[])"
)
# A procedure that commits may have no path of its own: what it names is qualified.
COMMITS = {"prepare_query"}
# Who writes into an indexed table needs no right on ours, so these write as their owner.
OF_TRIGGERS = {"queue_row"}
OF_TENANTS = {"own_principals", "own_statistics"}  # what they read is not the caller's to read
CONTRACT = {
    "alter_index_table": (
        "source regclass, text text[], title text, key text[], metadata text[], context "
        "text[], filter text, uri text",
        "void",
    ),
    "changed_rows": (
        "table_id integer, keys text[], recipe text",
        "TABLE(key text, title text, content text, context text, sha256 text)",
    ),
    "drop_index_table": ("source regclass", "bigint"),
    "embed": ("query text", "halfvec"),
    "end_worker": ("worker bigint", "void"),
    "finish_changes": ("changes bigint[]", "void"),
    "follow_tables": ("", "TABLE(source text, remark text)"),
    "index_table": (
        "source regclass, text text[], title text, key text[], metadata text[], dataset "
        "text, context text[], filter text, uri text",
        "integer",
    ),
    "known_row_texts": ("table_id integer, keys text[], sha256s text[]", "SETOF text"),
    "known_vector": ("query text", "halfvec"),
    "list_indexed_tables": (
        "",
        "TABLE(source text, dataset text, rows_stored bigint, rows_waiting bigint, "
        "is_filling boolean, waiting_since timestamp with time zone, rows_failed bigint, "
        "fault text)",
    ),
    "list_table_failures": (
        "source regclass",
        "TABLE(source_table text, key text, reason text, attempts integer, failed_at "
        "timestamp with time zone)",
    ),
    "list_workers": (
        "",
        "TABLE(worker bigint, host text, started_at timestamp with time zone, seen_at "
        "timestamp with time zone, is_resting boolean)",
    ),
    "prepare_query": ("IN query text, IN wait_ms integer", None),
    "query_vector_source": ("query text", "text"),
    "read_rows": (
        "table_id integer, keys text[]",
        "TABLE(key text, uri text, title text, content text, context text, metadata jsonb, "
        "sha256 text)",
    ),
    "request_vector": ("query text", "void"),
    "rest_worker": ("worker bigint, seconds double precision", "boolean"),
    "retry_table_failures": ("source regclass", "bigint"),
    "search_table": (
        "source anyelement, query text, query_vector halfvec, k integer, depth integer, "
        "condition text, fusion text, weights double precision[], query_space text",
        "TABLE(item anyelement, rank bigint, score double precision, heading text, content "
        "text, chunk_id bigint, document_id bigint)",
    ),
    "set_query_vectors": ("space text, digests bytea[], vectors text[], faults text[]", "void"),
    "stage_rows": ("", "void"),
    "start_worker": ("host text", "bigint"),
    "store_rows": (
        "table_id integer, keys text[], recipe text, space text, refused jsonb",
        "TABLE(status text, amount bigint)",
    ),
    "take_changes": (
        "most integer",
        "TABLE(table_id integer, changes bigint[], keys text[], waiting_since timestamp with "
        "time zone)",
    ),
    "take_queries": ("most integer", "TABLE(digest bytea, query text)"),
    "add_tenant": (
        "name text, datasets text[], roles text[], principals text[]",
        "TABLE(tenant text, created boolean)",
    ),
    "drop_tenant": ("name text", "boolean"),
    "guard_tenants": ("", "void"),
    "list_tenants": (
        "",
        "TABLE(tenant text, datasets text[], roles text[], keys bigint, created_at timestamp "
        "with time zone)",
    ),
    "tenant_roles": ("", "TABLE(tenant text, role_name text, principals text[])"),
    "tenancy": ("", "TABLE(has_tenants boolean, is_bound boolean, serves boolean)"),
    "turn_tenants_on": ("", "void"),
    "create_api_key": (
        "name text, digest bytea, datasets text[], writes boolean, deletes boolean, reads boolean, "
        "lasts interval, requests_per_minute integer, tenant text, principals text[]",
        API_KEY,
    ),
    "find_api_key": (
        "digest bytea",
        "TABLE(key_id bigint, digest bytea, datasets text[], reads boolean, writes boolean, "
        "deletes boolean, requests_per_minute integer, expires_at timestamp with time zone, "
        "expired boolean, tenant text, principals text[], has_tenants boolean, is_bound boolean)",
    ),
    "forget_api_calls": ("older_than interval", "bigint"),
    "list_api_calls": (
        "latest integer, key bigint",
        "TABLE(called_at timestamp with time zone, key_id bigint, name text, kind text, "
        "datasets text[], status smallint, query text)",
    ),
    "list_api_keys": ("", API_KEY),
    "record_api_calls": ("calls jsonb, keep boolean", "void"),
    "rotate_api_key": ("key bigint, digest bytea, overlap interval", API_KEY),
    "revoke_api_key": ("key bigint", "boolean"),
    "bm25_parameters": (
        "",
        "TABLE(k1 double precision, b double precision, average_length double precision)",
    ),
    "bound_space": ("OUT space text, OUT dimension integer", "record"),
    "build_indexes": ("", "boolean"),
    "card_candidates": (
        "query text, depth integer, documents bigint[]",
        "TABLE(document_id bigint, rank bigint, score double precision)",
    ),
    "chunk_places": (
        "chunk_ids bigint[]",
        "TABLE(chunk_id bigint, document_id bigint, ordinal integer, section integer)",
    ),
    "chunks_without_other": (
        "after bigint, batch integer",
        "TABLE(chunk_id bigint, context text, content text, row_version text)",
    ),
    "chunks_without_vector": (
        "after bigint, batch integer",
        "TABLE(chunk_id bigint, context text, content text, uri text, missing bigint)",
    ),
    "compare_evaluations": (
        "a bigint, b bigint",
        "TABLE(metric text, query_id text, a_value double precision, b_value double precision, "
        "difference double precision)",
    ),
    "configuration": (
        "",
        "TABLE(engine text, text_config text, space text, by_document boolean)",
    ),
    "find_calibration": (
        "",
        "TABLE(space text, constant double precision, cosine double precision, "
        "passage double precision, holds double precision[], lacks double precision[], "
        "fitted_at timestamp with time zone)",
    ),
    "set_calibration": (
        "space text, constant double precision, cosine double precision, "
        "passage double precision, holds double precision[], lacks double precision[]",
        "void",
    ),
    "complete_word": (
        f"beginning text, most integer, {SCOPE}",
        "TABLE(completion text, kind text, chunks bigint)",
    ),
    "content_hash": ("content text", "text"),
    "count_by": (f"key text, {SCOPE}", "TABLE(value jsonb, documents_with bigint)"),
    "count_documents": (SCOPE, "bigint"),
    "count_faults": ("", "TABLE(kind text, amount bigint)"),
    "database_identity": ("", "text"),
    "database_status": (
        "",
        "TABLE(engine text, text_config text, space text, migration integer, datasets bigint, "
        "documents bigint, chunks bigint, chunks_without_vector bigint, "
        "bytes bigint)",
    ),
    "default_depth": ("", "integer"),
    "default_feedback_documents": ("", "integer"),
    "default_fusion": ("", "text"),
    "default_k": ("", "integer"),
    "default_weights": ("", "double precision[]"),
    "rrf_constant": ("", "integer"),
    "delete_documents": ("documents bigint[]", "bigint"),
    "dense_candidates": (
        "query_vector halfvec, depth integer, documents bigint[]",
        f"TABLE({CANDIDATES})",
    ),
    "drop_other": ("wait_ms integer", "text"),
    "hold_reembed": ("", "boolean"),
    "fold_statistics": ("from_changes bigint", "boolean"),
    "hold_writers": ("", "void"),
    "most_dimensions": ("", "integer"),
    "dense_recall": ("query_vector halfvec, k integer, documents bigint[]", "double precision"),
    "discover_files": (
        f"query text, query_vector halfvec, k integer, depth integer, {SCOPE}, aggregate text, "
        "file_weights double precision[], fusion text, weights double precision[], "
        "query_space text, candidates lexichord.candidate[]",
        "TABLE(document_id bigint, dataset text, uri text, title text, score double precision, "
        "card_score double precision, chunk_score double precision, hits bigint)",
    ),
    "document_digests": (
        "dataset text, uris text[]",
        "TABLE(document_id bigint, uri text, sha256 text, recipe text)",
    ),
    "document_hashes": (
        "dataset text",
        "TABLE(document_id bigint, uri text, chunks bigint, vectors bigint, hash text)",
    ),
    "document_recipes": (
        "datasets text[]",
        "TABLE(document_id bigint, uri text, recipe text, updated_at timestamp with time zone)",
    ),
    "document_text": ("document bigint", "text"),
    "document_twins": (
        "dataset text, sha256s text[]",
        "TABLE(document_id bigint, uri text, sha256 text)",
    ),
    "documents_under": (
        "dataset text, folder text",
        "TABLE(document_id bigint, uri text, recipe text)",
    ),
    "exact_dense_candidates": (
        "query_vector halfvec, depth integer, documents bigint[]",
        f"TABLE({CANDIDATES})",
    ),
    "exact_keyword_candidates": (
        "query text, depth integer, documents bigint[]",
        f"TABLE({CANDIDATES})",
    ),
    "evaluation_results": (
        "evaluation bigint",
        "TABLE(query_id text, query text, hint text, intent text, answerable boolean, "
        "ms double precision, error text, confidence double precision, abstained boolean, "
        "metrics jsonb, passages jsonb, files text[], answer text)",
    ),
    "expand_context": (
        "chunk_ids bigint[], neighbours integer, whole_section boolean",
        "TABLE(chunk_id bigint, document_id bigint, uri text, title text, heading text, "
        "char_start integer, char_end integer, content text)",
    ),
    "extension_faults": (
        "engine text",
        "TABLE(extension text, version text, problem text, mended_in text, severity text, "
        "remedy text)",
    ),
    "failed_files": ("dataset text", "TABLE(uri text, reason text)"),
    "feedback_chunks": (
        f"query text, query_vector halfvec, feedback_documents integer, depth integer, {SCOPE}, "
        "fusion text, weights double precision[], query_space text, "
        "candidates lexichord.candidate[]",
        f"TABLE({CANDIDATES})",
    ),
    "feedback_terms": (
        "query text, chunks bigint[], terms integer, original_weight double precision",
        "TABLE(lexeme text, weight double precision, times integer)",
    ),
    "feedback_vector": (
        "query_vector halfvec, chunks bigint[], original_weight double precision",
        "halfvec",
    ),
    "file_surrogates": (
        "query text, query_vector halfvec, files bigint[], chunks integer, characters integer, "
        "query_space text",
        "TABLE(document_id bigint, surrogate text)",
    ),
    "find_definitions": (
        f"terms text[], {SCOPE}",
        "TABLE(term text, chunk_id bigint, before text, after text)",
    ),
    "find_documents": (
        "reference text, document bigint",
        "TABLE(document_id bigint, dataset text, uri text)",
    ),
    "find_problems": ("", "TABLE(problem text, remedy text)"),
    "finish_run": ("run_id bigint", "void"),
    "interrupt_run": ("run_id bigint", "void"),
    "judge_query": ("query_id bigint, is_right boolean", "void"),
    "judged_questions": (
        "latest integer",
        "TABLE(query_id bigint, query text, hint text, document_id bigint, dataset text, uri text)",
    ),
    "forget_evaluations": ("older_than interval", "bigint"),
    "forget_queries": ("older_than interval", "bigint"),
    "grant_reader": ("", "void"),
    "shard_moves": (
        "",
        "TABLE(switches bigint, is_moving boolean, last_number integer, numbers integer[], "
        "leaving integer[], from_shard integer, to_shard integer, document_numbers bigint[])",
    ),
    "start_moves": ("mover uuid, leaving integer", "void"),
    "end_moves": ("mover uuid", "void"),
    "begin_switch": (
        "mover uuid, from_shard integer, to_shard integer, document_numbers bigint[]",
        "void",
    ),
    "end_switch": ("switches bigint", "void"),
    "hold_answers": ("shared boolean", "void"),
    "held_numbers": ("kind text, numbers bigint[]", "bigint[]"),
    "list_places": (
        "past bigint, batch integer",
        "TABLE(number bigint, dataset text, uri text)",
    ),
    "depart_document": (
        "document bigint",
        "TABLE(dataset text, uri text, title text, media_type text, sha256 text, recipe text, "
        "content text, metadata text, text_config text, created_at timestamp with time zone, "
        "updated_at timestamp with time zone, chunk_ids bigint[])",
    ),
    "arrive_document": (
        "document bigint, dataset text, uri text, title text, media_type text, sha256 text, "
        "recipe text, content text, metadata jsonb, text_config text, "
        "created_at timestamp with time zone, updated_at timestamp with time zone, "
        "chunk_ids bigint[], space text",
        "boolean",
    ),
    "add_shard": (
        "number integer, dsn text",
        "void",
    ),
    "document_vector": (
        "document bigint",
        "TABLE(chunks bigint, vector halfvec, space text)",
    ),
    "drop_shard": (
        "number integer",
        "void",
    ),
    "feedback_sums": (
        "chunks bigint[]",
        "TABLE(amount bigint, direction real[], centroid real[], lexemes text[], "
        "weights double precision[], space text)",
    ),
    "fan_out": ("", "void"),
    "file_candidates": (
        f"query text, depth integer, {SCOPE}",
        "TABLE(document_numbers bigint[], scores double precision[], room bigint)",
    ),
    "join_shards": (
        "first_id bigint, secret uuid",
        "void",
    ),
    "list_shards": (
        "",
        "TABLE(number integer, dsn text, added_at timestamp with time zone)",
    ),
    "set_elsewhere": (
        "chunk_count bigint, token_count bigint, document_count bigint, card_token_count bigint, "
        "lexemes text[], dfs bigint[], cards bigint[], dataset text",
        "void",
    ),
    "shard_candidates": (
        f"query text, terms jsonb, query_vector halfvec, depth integer, {SCOPE}, "
        "weights double precision[], boost jsonb, query_space text",
        "TABLE(channel text, is_boosted boolean, chunk_numbers bigint[], "
        "document_numbers bigint[], scores double precision[], room bigint)",
    ),
    "shard_statistics": (
        "dataset text",
        "TABLE(chunk_count bigint, token_count bigint, document_count bigint, "
        "card_token_count bigint, average_length double precision, elsewhere_chunks bigint)",
    ),
    "shard_terms": (
        "dataset text",
        "TABLE(lexemes text[], dfs bigint[], cards bigint[])",
    ),
    "hybrid_search": (
        f"query text, query_vector halfvec, k integer, depth integer, {SCOPE}, fusion text, "
        "weights double precision[], boost jsonb, query_space text",
        "TABLE(chunk_id bigint, document_id bigint, dataset text, uri text, title text, "
        "heading text, char_start integer, char_end integer, page integer, content text, "
        "context text, score double precision, dense_score double precision, dense_rank bigint, "
        "keyword_score double precision, keyword_rank bigint, fused_score double precision)",
    ),
    "id_secret": ("", "uuid"),
    "index_use": ("", "TABLE(index_name text, used boolean, plan text)"),
    "is_unchanged": (
        "document bigint, updated_at timestamp with time zone, dataset text",
        "boolean",
    ),
    "keep_contexts": ("dataset text, uri text, keys text[], contexts text[]", "void"),
    "kept_vectors": (
        "documents bigint[], recipe text",
        "TABLE(key text, embedding halfvec)",
    ),
    "keyword_candidates": (
        "query text, depth integer, documents bigint[]",
        f"TABLE({CANDIDATES})",
    ),
    "keep_file": (
        "file_id text, name text, media_type text, purpose text, content bytea, datasets text[]",
        "timestamp with time zone",
    ),
    "read_file": ("file_id text", "bytea"),
    "list_files": (
        f"file_ids text[], reach text[], purpose text, {PAGE}",
        "TABLE(file_id text, name text, media_type text, purpose text, byte_count bigint, "
        "sha256 text, created_at timestamp with time zone, datasets text[])",
    ),
    "delete_file": ("file_id text, dataset text", "boolean"),
    "define_dataset": ("dataset text, details jsonb, anew boolean", "boolean"),
    "delete_dataset": ("dataset text", "bigint"),
    "move_documents": ("documents bigint[], dataset text", "bigint"),
    "rename_dataset": ("dataset text, new_name text", "void"),
    "describe_datasets": (
        f"datasets text[], {PAGE}",
        "TABLE(dataset text, details jsonb, created_at timestamp with time zone, "
        "byte_count bigint, in_progress bigint, completed bigint, failed bigint)",
    ),
    "add_dataset_files": ("dataset text, run_id bigint, attributes jsonb", "void"),
    "list_dataset_files": (
        f"dataset text, file_ids text[], documents bigint[], runs bigint[], state text, {PAGE}",
        "TABLE(file_id text, document_id bigint, uri text, state text, reason text, "
        "attributes jsonb, byte_count bigint, created_at timestamp with time zone, "
        "run_id bigint, sort_key text)",
    ),
    "keep_original": ("document bigint, content bytea", "boolean"),
    "keyword_text": ("input text", "text"),
    "known_faults": (
        "",
        "TABLE(extension text, engines text[], first_version text, last_version text, "
        "problem text, mended_in text, severity text)",
    ),
    "known_contexts": ("keys text[]", "TABLE(key text, context text)"),
    "lexemes": ("input text, text_config regconfig", "tsvector"),
    "link_documents": (
        f"words text[], depth integer, {SCOPE}",
        "TABLE(document_id bigint, dataset text, uri text, title text, domain text, word integer, "
        "in_title boolean, in_file boolean, initials boolean, rare boolean, "
        "score double precision, title_terms integer, file_terms integer)",
    ),
    "list_chunks": (
        "document bigint",
        "TABLE(chunk_id bigint, ordinal integer, heading text, char_start integer, "
        "char_end integer, page integer, content text, context text, keyword_context text, "
        "metadata jsonb, has_vector boolean)",
    ),
    "list_datasets": ("", "TABLE(dataset text, documents bigint, chunks bigint)"),
    "list_documents": (
        f"{SCOPE}, page_size bigint, page_offset bigint",
        "TABLE(document_id bigint, dataset text, uri text, title text, media_type text, "
        "characters integer, chunks bigint, metadata jsonb, updated_at timestamp with time zone)",
    ),
    "list_evaluations": (
        "latest integer",
        "TABLE(evaluation_id bigint, set_name text, strategy text, "
        "started_at timestamp with time zone, queries bigint, failed bigint, "
        "p50_ms double precision, p95_ms double precision, qps jsonb, means jsonb, "
        "ks integer[], settings jsonb, version text)",
    ),
    "list_keys": ("", "TABLE(key text, documents bigint)"),
    "list_queries": (
        "latest integer",
        "TABLE(query_id bigint, asked_at timestamp with time zone, query text, hint text, "
        "hinted boolean, intent text, confidence double precision, abstained boolean, "
        "coverage double precision, hits bigint, ms double precision, counts jsonb, "
        "stages jsonb, datasets text[], narrowed boolean, space text, version text)",
    ),
    "list_originals": (
        "dataset text",
        "TABLE(uri text, document_id bigint, sha256 text)",
    ),
    "list_run_files": (
        "run_id bigint, page_size bigint",
        "TABLE(uri text, status text, reason text, chunks integer)",
    ),
    "list_runs": (
        "latest integer, datasets text[], runs bigint[]",
        "TABLE(run_id bigint, dataset text, source text, state text, "
        "started_at timestamp with time zone, seen_at timestamp with time zone, "
        "finished_at timestamp with time zone, total bigint, done bigint, inserted bigint, "
        "replaced bigint, skipped bigint, failed bigint, deleted bigint, failures jsonb, "
        "unread jsonb, in_progress jsonb)",
    ),
    "moved_extensions": (
        "",
        "TABLE(extension text, named_schema text, present_schema text)",
    ),
    "outgrown_indexes": ("", "TABLE(index_name text, reason text)"),
    "prepare_vechord": (
        "namespace text, datasets text[]",
        "TABLE(dimension integer, finds_functions boolean)",
    ),
    "prune_documents": ("run_id bigint, uris text[]", "bigint"),
    "query_hits": (
        "query_id bigint",
        "TABLE(rank integer, chunk_id bigint, current_chunk_id bigint, dataset text, uri text, "
        "char_start integer, char_end integer, score double precision, scores jsonb, ranks jsonb)",
    ),
    "question_coverage": (
        "question text, chunk_ids bigint[]",
        "TABLE(lexeme text, words text[], times integer, df bigint, idf double precision, "
        "chunks bigint[])",
    ),
    "recorded_passages": (
        "latest integer",
        "TABLE(query_id bigint, query text, confidence double precision, rank integer, "
        "document_id bigint, context text, content text)",
    ),
    "read_chunks": (
        "document bigint",
        "TABLE(ordinal integer, heading text, char_start integer, char_end integer, page integer, "
        "content text, context text, keyword_context text, metadata jsonb, embedding halfvec)",
    ),
    "query_lexemes": ("query text, documents bigint[]", "tsvector"),
    "read_document": (
        "document bigint",
        "TABLE(dataset text, uri text, title text, media_type text, sha256 text, recipe text, "
        "content text, metadata text, text_config text)",
    ),
    "read_original": ("document bigint", "bytea"),
    "read_hits": (
        "chunk_ids bigint[]",
        "TABLE(chunk_id bigint, document_id bigint, dataset text, uri text, title text, "
        "heading text, char_start integer, char_end integer, page integer, content text, "
        "context text)",
    ),
    "read_spans": (
        "documents bigint[], starts integer[], ends integer[]",
        "TABLE(span_number integer, content text)",
    ),
    "reader_gaps": ("", "TABLE(problem text, statement text, ours boolean)"),
    "reader_rights": ("OUT functions text[], OUT tables text[], OUT maintenance text[]", "record"),
    "refresh_impacts": ("anyway boolean", "boolean"),
    "seal_keywords": ("", "boolean"),
    "rebuild_indexes": ("", "boolean"),
    "record_evaluation": (
        "set_name text, strategy text, queries jsonb, results jsonb, ks integer[], version text, "
        "settings jsonb, qps jsonb, started_at timestamp with time zone",
        "bigint",
    ),
    "record_files": ("run_id bigint, uris text[], status text, reason text, chunks bigint", "void"),
    "record_query": (
        "intent text, confidence double precision, abstained boolean, hits jsonb, version text, "
        "stages jsonb, counts jsonb, ms double precision, coverage double precision, space text, "
        "datasets text[], narrowed boolean, hinted boolean, query text, hint text",
        "bigint",
    ),
    "record_comparison": ("comparison jsonb", "void"),
    "recount": ("", "void"),
    "reembed_index_statements": ("filled boolean", "SETOF text"),
    "reembed_status": (
        "",
        "TABLE(reembed_id bigint, state text, old_space text, new_space text, other_space text, "
        "chunks bigint, missing bigint, embedded bigint, comparison jsonb, "
        "started_at timestamp with time zone, seen_at timestamp with time zone, "
        "swapped_at timestamp with time zone)",
    ),
    "related_words": (
        "question text, chunk_ids bigint[], most integer",
        "TABLE(word text, lexeme text, chunks bigint, df bigint, weight double precision)",
    ),
    "replica_state": (
        '"position" text, OUT is_replica boolean, OUT is_following boolean, '
        "OUT seconds double precision, OUT reached boolean, OUT id_secret uuid",
        "record",
    ),
    "relevance_feedback": (
        "query text, query_vector halfvec, feedback_documents integer, "
        f"least_coherence double precision, depth integer, {SCOPE}, fusion text, "
        "weights double precision[], query_space text, candidates lexichord.candidate[]",
        "TABLE(chunk_ids bigint[], coherence double precision, terms jsonb, vector halfvec)",
    ),
    "propose_candidates": (
        f"query text, query_vector halfvec, depth integer, {SCOPE}, weights double precision[], "
        "query_space text",
        "lexichord.candidate[]",
    ),
    "reusable_chunks": ("documents bigint[], recipe text", "SETOF text"),
    "sampled_recall": ("amount integer", "double precision"),
    "sample_queries": ("amount integer", "SETOF text"),
    "sample_documents": (
        "dataset text, documents integer, without text[]",
        "TABLE(document_id bigint, uri text, sha256 text)",
    ),
    "schema_gaps": ("", "TABLE(problem text, statement text)"),
    "scope_documents": (SCOPE, "bigint[]"),
    "search_each": (
        "queries text[], documents bigint[], query_vectors text[], k integer, query_space text",
        "TABLE(query_number integer, chunk_id bigint, document_id bigint, dataset text, uri text, "
        "title text, heading text, char_start integer, char_end integer, page integer, "
        "content text, context text, score double precision, dense_score double precision, "
        "dense_rank bigint, keyword_score double precision, keyword_rank bigint, "
        "fused_score double precision)",
    ),
    "search_variants": (
        f"variants jsonb, k integer, depth integer, {SCOPE}, weights double precision[], "
        "boost jsonb, query_space text",
        "TABLE(chunk_id bigint, document_id bigint, dataset text, uri text, title text, "
        "heading text, char_start integer, char_end integer, page integer, content text, "
        "context text, score double precision, dense_score double precision, dense_rank bigint, "
        "keyword_score double precision, keyword_rank bigint, fused_score double precision, "
        "variant_ranks jsonb, variant_scores jsonb)",
    ),
    "server_facts": (
        "",
        "TABLE(shared_buffers bigint, maintenance_work_mem bigint, effective_cache_size bigint, "
        "max_parallel_maintenance_workers integer, random_page_cost double precision, "
        "jit boolean, stored_bytes bigint, index_bytes bigint, is_local boolean)",
    ),
    "server_versions": ("", "TABLE(name text, version text)"),
    "set_other_vectors": (
        "space text, chunk_ids bigint[], row_versions text[], vectors text[]",
        "bigint",
    ),
    "set_metadata": ("document bigint, changes jsonb", "jsonb"),
    "set_vectors": ("chunk_ids bigint[], vectors text[], space text", "bigint"),
    "shared_headings": ("documents bigint[], most integer", "TABLE(heading text)"),
    "similar_documents": (
        f"source bigint, k integer, {SCOPE}",
        "TABLE(document_id bigint, dataset text, uri text, title text, score double precision, "
        "hits bigint, metadata jsonb)",
    ),
    "space_overlap": (
        "query_vector halfvec, other_vector halfvec, k integer",
        "double precision",
    ),
    "stage_chunks": ("", "void"),
    "start_reembed": (
        "provider text, model text, dimension integer, wait_ms integer",
        "bigint",
    ),
    "start_run": ("dataset text, source text, total bigint", "bigint"),
    "store_document": (
        "dataset text, uri text, title text, media_type text, sha256 text, recipe text, "
        "content text, metadata jsonb, twin bigint, space text, text_config text, "
        "chunk_ids bigint[]",
        "TABLE(document_id bigint, status text, chunks bigint)",
    ),
    "swap_spaces": (
        "incomplete boolean, wait_ms integer",
        "TABLE(swapped boolean, missing bigint)",
    ),
    "touch_run": ("run_id bigint, in_progress jsonb", "void"),
    "variant_candidates": (
        f"query text, terms jsonb, query_vector halfvec, depth integer, {SCOPE}, "
        "weights double precision[], boost jsonb, query_space text, "
        "candidates lexichord.candidate[]",
        "TABLE(chunk_id bigint, document_id bigint, rank bigint, score double precision, "
        "dense_score double precision, dense_rank bigint, keyword_score double precision, "
        "keyword_rank bigint, fused_score double precision)",
    ),
    "vechord_chunks": (
        "namespace text, chunk_table text, keys text[]",
        "TABLE(key text, content text, context text, metadata jsonb, embedding real[])",
    ),
    "vechord_digests": (
        "namespace text, chunk_table text, after text, batch integer",
        "TABLE(key text, chunks bigint, sha256 text)",
    ),
    "vechord_documents": (
        "namespace text, chunk_table text, keys text[]",
        "TABLE(key text, title text, content text, metadata jsonb)",
    ),
    "vechord_orphans": ("namespace text, chunk_table text", "bigint"),
    "vechord_tables": (
        "namespace text",
        "TABLE(table_name text, class text, dimension integer, vector_column text, "
        "text_column text, context_column text, order_columns text[], metadata_columns text[], "
        "reference_column text, document_table text, document_has_vector boolean, "
        "key_column text, key_type text, document_title text, document_text text, "
        "document_metadata text[])",
    ),
    "vector_key": ("content text, context text, metadata jsonb", "text"),
    "weigh_terms": (
        "texts text[]",
        "TABLE(lexeme text, idf double precision, df bigint, text_numbers integer[], "
        "frequencies integer[])",
    ),
    "write_vechord": (
        "namespace text, datasets text[]",
        "TABLE(documents bigint, chunks bigint)",
    ),
    "written_position": ("", "text"),
}
PATHS = ("pg_catalog, pg_temp", "pg_catalog, lexichord_data, pg_temp")
EXTENDS_ITS_PATH = {
    "keyword_proposals",
    "segment_proposals",
    "index_use",
}  # while a statement of qualified names is run
OWN = "pronamespace in ('lexichord'::regnamespace, 'lexichord_data'::regnamespace)"


def test_signatures_are_the_ones_written_down(library: Connection) -> None:
    rows = library.execute(
        f"select proname, pg_get_function_identity_arguments(oid), {RESULT} "
        "from pg_proc p where pronamespace = 'lexichord'::regnamespace"
    ).fetchall()
    assert len(rows) == len({name for name, _, _ in rows})
    inner = inner_functions(library) - CONTRACT.keys()
    signatures = {
        name: (arguments, result) for name, arguments, result in rows if name not in inner
    }
    assert signatures == CONTRACT
    assert {name for name, _, _ in rows} - CONTRACT.keys() == inner


def test_every_function_runs_as_its_caller_on_a_fixed_path(library: Connection) -> None:
    rows = library.execute(
        f"select proname, prosecdef, proconfig, prosrc from pg_proc where {OWN} "
        "and prosqlbody is null"  # else it was read when it was made
    ).fetchall()
    assert len(rows) > 50
    for name, definer, settings, body in rows:
        assert not definer or name in OF_TRIGGERS | OF_TENANTS, name
        if name in COMMITS:
            continue
        (path,) = [each for each in settings or [] if each.startswith("search_path=")]
        assert path.removeprefix("search_path=") in PATHS, name
        assert "set_config('search_path'" not in body or name in EXTENDS_ITS_PATH, name
        if "\\" in body:  # else a session's setting would change what its literals mean
            assert "standard_conforming_strings=on" in settings, name


def test_the_defaults_are_those_of_the_options(library: Connection) -> None:
    options = SearchOptions()
    assert value(library, "select lexichord.default_k()") == options.k
    assert value(library, "select lexichord.default_depth()") == options.depth


def test_what_forbids_plans_forbids_compiling_them(library: Connection) -> None:
    """Before PostgreSQL 18 what is forbidden costs so much that it is compiled: 250 ms a call."""
    rows = library.execute(
        f"select proname, proconfig from pg_proc where {OWN} and proconfig::text ~ 'enable_.*=off'"
    ).fetchall()
    assert rows
    for name, settings in rows:
        assert "jit=off" in settings, name


def test_every_function_says_what_it_is_for(library: Connection) -> None:
    silent = library.execute(
        "select proname from pg_proc where pronamespace = 'lexichord'::regnamespace "
        "and coalesce(obj_description(oid, 'pg_proc'), '') = ''"
    ).fetchall()
    assert silent == []


def test_installed_are_the_files_of_the_engine_and_no_others(library: Connection) -> None:
    engine = value(library, "select engine from lexichord.configuration()")
    files = [
        *(ROOT / "sql").glob("*.sql"),
        *(ROOT / "sql/constants").glob("*.sql"),
        *(path for each in FOLDERS[engine] for path in (ROOT / "sql/engine" / each).glob("*.sql")),
    ]
    rows = library.execute(
        "select proname from pg_proc where pronamespace = 'lexichord'::regnamespace"
    ).fetchall()
    assert {path.stem for path in files} - NO_FUNCTIONS == {name for (name,) in rows}


FILES = [
    path
    for path in sorted((ROOT / "sql").rglob("*.sql"))
    if path.stem not in NO_FUNCTIONS and path.parent.name not in ("types", "state")
]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_holds_the_one_function_that_it_is_named_after(path: Path) -> None:
    text = path.read_text()
    assert re.findall(r"(?m)^create or replace (?:function|procedure) (\S+?)\(", text) == [
        f"lexichord.{path.stem}"
    ]
    assert re.findall(r"(?m)^comment on (?:function|procedure) (\S+?)\(", text) == [
        f"lexichord.{path.stem}"
    ]


def test_engines_offer_the_same() -> None:
    offers = [{name: offered(engine)[name] for name in OF_AN_ENGINE} for engine in FOLDERS]
    assert offers[0] == offers[1] == offers[2]
    assert len(OF_AN_ENGINE) <= 10


@pytest.mark.parametrize("engine", FOLDERS)
def test_nothing_else_of_an_engine_is_called_from_outside(engine: str) -> None:
    inner = offered(engine).keys() - OF_AN_ENGINE
    shared = "".join(path.read_text() for path in (ROOT / "sql").glob("*.sql"))
    assert not inner & set(re.findall(r"lexichord\.(\w+)\(", shared))


def test_the_ledger_has_each_migration_with_its_digest(library: Connection) -> None:
    rows = library.execute("select number, name, sha256 from lexichord_data.migration order by 1")
    files = sorted((ROOT / "migrations").glob("*.sql"))
    assert rows.fetchall() == [
        (int(path.name[:4]), path.stem[5:], hashlib.sha256(path.read_bytes()).hexdigest())
        for path in files
    ]
    assert [int(path.name[:4]) for path in files] == list(range(1, len(files) + 1))


def test_the_descriptions_name_nothing_else() -> None:
    text = "".join(path.read_text() for path in (ROOT / "docs/sql").glob("*.md"))
    named = set(re.findall(r"`(\w+)\(", text))
    assert len(named) > 20
    assert named <= CONTRACT.keys()
