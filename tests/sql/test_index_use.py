"""The indexes are used, and what searching sets ends with it."""

import re
from typing import Any

import pytest

from tests.sql.corpus import (
    MOST,
    SPACE,
    Connection,
    all_settings,
    call,
    counter,
    engine_of,
    ids,
    put,
    scans,
    value,
)

BY_VECTOR = {"query_vector": "[1,0,0,0]", "query_space": SPACE}
SEARCHES: list[tuple[str, dict[str, Any]]] = [
    ("hybrid_search", {"query": "w0 w1", **BY_VECTOR}),
    ("hybrid_search", {"query": "w0 w1", "filter": MOST, **BY_VECTOR}),
    ("hybrid_search", {"query": "w0 w1", "uri_prefix": "wide/1", "boost": {"1": 1}}),
    ("discover_files", {"query": "w0 w1", **BY_VECTOR}),
    ("similar_documents", {"source": 1}),
    ("dense_candidates", {"query_vector": "[1,0,0,0]", "depth": 2000}),
    ("keyword_candidates", {"query": "w0 w1"}),
    ("exact_dense_candidates", {"query_vector": "[1,0,0,0]"}),
    ("exact_keyword_candidates", {"query": "w0 w1"}),
    ("card_candidates", {"query": "w0 w1"}),
    ("relevance_feedback", {"query": "w0 w1", **BY_VECTOR}),
    ("variant_candidates", {"query": "w0 w1", "filter": MOST, **BY_VECTOR}),
    ("search_each", {"queries": ["w0", "w1"], "documents": [1, 2]}),
    ("file_surrogates", {"query": "w0", "query_vector": "[1,0,0,0]", "files": [1, 2]}),
    ("find_definitions", {"terms": ["w0"]}),
    ("complete_word", {"beginning": "w"}),
    ("link_documents", {"words": ["w0", "x1", "NDA"]}),
    ("question_coverage", {"question": "w0 w1", "chunk_ids": [1, 2]}),
    ("related_words", {"question": "w0 w1", "chunk_ids": [1, 2, 3]}),
    ("chunk_places", {"chunk_ids": [1, 40]}),
    ("shared_headings", {"documents": [1, 2]}),
    ("read_spans", {"documents": [1], "starts": [0], "ends": [5]}),
    ("term_centroid", {"terms": "w0:1"}),
    ("index_use", {}),
]


@pytest.fixture
def indexed(wide: Connection) -> Connection:
    """A database with an index of each channel, whose server counts how often it is read."""
    if engine_of(wide) == "citus":
        pytest.skip("the indexes are on other servers: see test_citus")
    return wide


def test_index_use_says_so(indexed: Connection) -> None:
    for row in call(indexed, "index_use"):
        assert row["used"], row
        assert row["index_name"] in row["plan"] or row["plan"].startswith(
            "Heap Scan"
        )  # by a bitmap


def test_index_use_says_also_if_not(fresh: Connection) -> None:
    put(fresh, "a", ["w1"], [[1, 0, 0, 0]])
    assert {(row["used"], row["plan"]) for row in call(fresh, "index_use")} == {(False, None)}
    call(fresh, "build_indexes")
    dense, *keyword = call(fresh, "index_use")
    assert not dense["used"]  # one row is read faster without
    assert dense["plan"].startswith("Seq Scan")
    assert all(row["used"] or row["plan"] is None for row in keyword)  # so few are not sealed


@pytest.mark.parametrize("scoped", [False, True])
def test_both_channels_read_through_their_index(indexed: Connection, scoped: bool) -> None:
    """By the server's own count of index scans, from inside the functions."""
    documents = ids(call(indexed, "list_documents", filter=MOST), "document_id") if scoped else None
    dense, keyword = (row["index_name"] for row in call(indexed, "index_use"))
    searches: list[tuple[str, str, dict[str, Any]]] = [
        (dense, "dense_candidates", {"query_vector": "[1,0,0,0]"}),
        (keyword, "keyword_candidates", {"query": "w0"}),
        (keyword, "keyword_candidates", {"query": "w0", "depth": 150}),
    ]
    with indexed.transaction():
        for index, function, arguments in searches:
            before = counter(indexed, index)
            call(indexed, function, documents=documents, **arguments)
            assert scans(indexed, index, before) == 1


def test_the_keyword_index_is_read_even_where_it_looks_dear(indexed: Connection) -> None:
    """No other plan knows the score that the index hands out."""
    _, keyword = (row["index_name"] for row in call(indexed, "index_use"))
    expected = call(indexed, "keyword_candidates", query="w0")
    with indexed.transaction(force_rollback=True):
        indexed.execute("set local random_page_cost = 100000")
        before = counter(indexed, keyword)
        assert call(indexed, "keyword_candidates", query="w0") == expected
        assert scans(indexed, keyword, before) == 1


@pytest.mark.parametrize("scope", [{}, {"filter": MOST}])
@pytest.mark.parametrize(
    "function", ["hybrid_search", "variant_candidates", "feedback_chunks", "relevance_feedback"]
)
def test_a_search_reads_each_index_once(
    indexed: Connection, function: str, scope: dict[str, Any]
) -> None:
    indexes = [row["index_name"] for row in call(indexed, "index_use")]
    with indexed.transaction():
        before = [counter(indexed, index) for index in indexes]
        call(indexed, function, query="w0", **BY_VECTOR, **scope)
        assert list(map(scans, [indexed, indexed], indexes, before)) == [1, 1]


@pytest.mark.parametrize("scope", [{}, {"filter": MOST}])
def test_definitions_are_sought_through_the_keyword_index(
    indexed: Connection, scope: dict[str, Any]
) -> None:
    dense, keyword = (row["index_name"] for row in call(indexed, "index_use"))
    with indexed.transaction():
        before = [counter(indexed, index) for index in (dense, keyword)]
        call(indexed, "find_definitions", terms=["w0"], **scope)
        assert list(map(scans, [indexed, indexed], [dense, keyword], before)) == [0, 1]


def test_a_list_of_a_wide_scope_compares_no_document_with_all_of_it(wide: Connection) -> None:
    body = value(wide, "select prosrc from pg_proc where proname = 'list_documents'")
    scope = {"datasets": "array['d']", "documents": "null", "uri_prefix": "null", "filter": "null"}
    for name, literal in (scope | {"page_size": "10", "page_offset": "0"}).items():
        body = re.sub(rf"\b{name}\b", literal, body)
    with wide.transaction(force_rollback=True):
        wide.execute("set local search_path = lexichord_data")
        plan = "\n".join(row[0] for row in wide.execute(f"explain {body}".encode()))
    assert "hashed SubPlan" in plan


def test_exact_candidates_use_no_index(indexed: Connection) -> None:
    dense, keyword = (row["index_name"] for row in call(indexed, "index_use"))
    with indexed.transaction():
        before = [counter(indexed, index) for index in (dense, keyword)]
        call(indexed, "exact_dense_candidates", query_vector="[1,0,0,0]")
        call(indexed, "exact_keyword_candidates", query="w0")
        assert list(map(scans, [indexed, indexed], [dense, keyword], before)) == [0, 0]


@pytest.mark.parametrize(("function", "arguments"), SEARCHES)
def test_settings_end_with_the_function(
    wide: Connection, function: str, arguments: dict[str, Any]
) -> None:
    call(wide, function, **arguments)  # loads what defines the settings
    before = all_settings(wide)
    call(wide, function, **arguments)
    assert all_settings(wide) == before
    with wide.transaction():
        call(wide, function, **arguments)
        assert all_settings(wide) == before
    assert all_settings(wide) == before


@pytest.mark.parametrize(("function", "arguments"), SEARCHES)
def test_the_callers_own_settings_come_back(
    wide: Connection, function: str, arguments: dict[str, Any]
) -> None:
    expected = call(wide, function, **arguments)
    with wide.transaction(force_rollback=True):
        for name, setting in (("enable_sort", "off"), ("search_path", "public, pg_temp")):
            wide.execute(f"set local {name} = {setting}".encode())
        if "hnsw.ef_search" in all_settings(wide):
            wide.execute("set local hnsw.ef_search = 55; set local hnsw.iterative_scan = off")
        before = all_settings(wide)
        assert call(wide, function, **arguments) == expected
        assert all_settings(wide) == before
