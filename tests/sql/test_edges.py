"""Reads for a query with nothing to read: no rows, no document in scope, nothing given."""

from typing import Any

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
GIVEN = {
    **{"chunk_places": "chunk_ids", "read_hits": "chunk_ids", "shared_headings": "documents"},
    **{"feedback_terms": "query chunks", "file_surrogates": "query query_vector files"},
    **{"find_definitions": "terms", "link_documents": "words", "weigh_terms": "texts"},
    **{"question_coverage": "question chunk_ids", "related_words": "question chunk_ids"},
    **{"read_spans": "documents starts ends", "search_each": "queries documents"},
}


def test_an_empty_database_and_an_empty_scope_give_no_rows(connection: Connection) -> None:
    for function, arguments in SCOPED:
        assert call(connection, function, **arguments) == [], function
    put(connection, "a", ['the "w1" of w2'], [[1, 0, 0, 0]], title="w1", metadata={"of": "us"})
    call(connection, "build_indexes")
    for function, arguments in SCOPED:
        assert call(connection, function, **arguments, uri_prefix="a", filter={"of": "us"})
        for nothing in NOWHERE:
            assert call(connection, function, **arguments, **nothing) == [], function


def test_feedback_of_an_empty_scope_is_the_query_alone(connection: Connection) -> None:
    put(connection, "a", ["w1 w2"], [[1, 0, 0, 0]])
    feedback = call(connection, "relevance_feedback", query="w1", uri_prefix="b")
    assert feedback == [{"chunk_ids": [], "coherence": None, "terms": {"w1": 30}, "vector": None}]


def test_nothing_given_is_nothing_found(library: Connection) -> None:
    for function, names in GIVEN.items():
        assert call(library, function, **dict.fromkeys(names.split())) == [], function


def test_neither_a_vector_nor_chunks_is_no_vector(library: Connection) -> None:
    statement = "select lexichord.feedback_vector(%s, %s)::text"
    assert value(library, statement, None, []) is None
    assert value(library, statement, "[0,1,0,0]", []) == "[0,1,0,0]"
    assert value(library, statement, "[0,1,0,0]", None) == "[0,1,0,0]"


def test_a_database_of_stop_words_teaches_nothing(connection: Connection) -> None:
    put(connection, "a", ["the"], [[1, 0, 0, 0]])
    feedback = call(connection, "relevance_feedback", query="the", query_vector="[1,0,0,0]")[0]
    assert (feedback["chunk_ids"], feedback["terms"]) == ([], None)
