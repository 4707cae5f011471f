"""Reads for a query with nothing to read: no rows, no document in scope, nothing given."""

from typing import Any

import pytest
from psycopg.types.json import Jsonb

from tests.sql.corpus import Connection, call, put, value

VARIANTS = Jsonb([{"name": "original", "text": "w1"}, {"name": "terms", "terms": {"w1": 2}}])
SCOPED: list[tuple[str, dict[str, Any]]] = [
    ("feedback_chunks", {"query": "w1"}),
    ("variant_candidates", {"query": "w1"}),
    ("variant_candidates", {"query": None, "terms": {"w1": 3}}),
    ("search_variants", {"variants": VARIANTS}),
    ("find_definitions", {"terms": ["w1"]}),
    ("complete_word", {"beginning": "w"}),
    ("link_documents", {"words": ["w1"]}),
]
NOWHERE: list[dict[str, Any]] = [
    {"uri_prefix": "b"},
    {"filter": {"of": "them"}},
    {"documents": []},
]
GIVEN: list[tuple[str, list[str]]] = [
    ("chunk_places", ["chunk_ids"]),
    ("feedback_terms", ["query", "chunks"]),
    ("file_surrogates", ["query", "query_vector", "files"]),
    ("find_definitions", ["terms"]),
    ("link_documents", ["words"]),
    ("question_coverage", ["question", "chunk_ids"]),
    ("read_hits", ["chunk_ids"]),
    ("read_spans", ["documents", "starts", "ends"]),
    ("related_words", ["question", "chunk_ids"]),
    ("search_each", ["queries", "documents"]),
    ("shared_headings", ["documents"]),
    ("weigh_terms", ["texts"]),
]


@pytest.mark.parametrize(("function", "arguments"), SCOPED)
def test_an_empty_database_and_an_empty_scope_give_no_rows(
    connection: Connection, function: str, arguments: dict[str, Any]
) -> None:
    assert call(connection, function, **arguments) == []
    put(connection, "a", ['the "w1" of w2'], [[1, 0, 0, 0]], title="w1", metadata={"of": "us"})
    call(connection, "build_indexes")
    assert call(connection, function, **arguments, uri_prefix="a", filter={"of": "us"})
    for nothing in NOWHERE:
        assert call(connection, function, **arguments, **nothing) == []


def test_feedback_of_an_empty_scope_is_the_query_alone(connection: Connection) -> None:
    put(connection, "a", ["w1 w2"], [[1, 0, 0, 0]])
    feedback = call(connection, "relevance_feedback", query="w1", uri_prefix="b")
    assert feedback == [{"chunk_ids": [], "coherence": None, "terms": {"w1": 30}, "vector": None}]


@pytest.mark.parametrize(("function", "names"), GIVEN)
def test_nothing_given_is_nothing_found(
    library: Connection, function: str, names: list[str]
) -> None:
    assert call(library, function, **dict.fromkeys(names)) == []


def test_neither_a_vector_nor_chunks_is_no_vector(library: Connection) -> None:
    statement = "select lexichord.feedback_vector(%s, %s)::text"
    assert value(library, statement, None, []) is None
    assert value(library, statement, "[0,1,0,0]", []) == "[0,1,0,0]"
    assert value(library, statement, "[0,1,0,0]", None) == "[0,1,0,0]"


def test_a_database_of_stop_words_teaches_nothing(connection: Connection) -> None:
    put(connection, "a", ["the"], [[1, 0, 0, 0]])
    feedback = call(connection, "relevance_feedback", query="the", query_vector="[1,0,0,0]")[0]
    assert (feedback["chunk_ids"], feedback["terms"]) == ([1], None)
