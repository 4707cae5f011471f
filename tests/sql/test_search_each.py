"""The best chunks of each document for each query."""

import psycopg
import pytest

from tests.sql.corpus import Connection, call, put

LINES = ["w1 begins", "w2 w2 w3", "w4", "w2 w5"]
VECTORS = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]


@pytest.fixture
def two(connection: Connection) -> Connection:
    put(connection, "a", LINES, VECTORS)
    put(connection, "b", ["w2 again", "w6"], VECTORS[:2])
    return connection


def test_a_list_a_pair_in_the_order_given(two: Connection) -> None:
    rows = call(two, "search_each", queries=["w2", "w6"], documents=[2, 1], k=1)
    hits = [(row["query_number"], row["document_id"], row["content"]) for row in rows]
    assert hits[:2] == [(1, 2, "w2 again"), (1, 1, "w2 w2 w3")]
    assert hits[2] == (2, 2, "w6")


def test_each_list_is_what_hybrid_search_gives(two: Connection) -> None:
    vectors = ["[0,1,0,0]", "[0,0,1,0]"]
    rows = call(
        two, "search_each", queries=["w2", "w4"], documents=[1, 2], query_vectors=vectors, k=3
    )
    expected = [
        {"query_number": number, **row}
        for number, (query, vector) in enumerate(zip(["w2", "w4"], vectors, strict=True), 1)
        for document in (1, 2)
        for row in call(
            two, "hybrid_search", query=query, query_vector=vector, documents=[document], k=3
        )
    ]
    assert rows == expected
    assert len(rows) == 10


def test_vectors_are_as_many_as_queries_and_of_the_space(two: Connection) -> None:
    assert call(two, "search_each", queries=["w2"], documents=[]) == []
    asked = {"documents": [1], "query_vectors": ["[0,1,0,0]"]}
    with pytest.raises(psycopg.DataError, match="as many as queries"), two.transaction():
        call(two, "search_each", queries=["w2", "w4"], **asked)
    with pytest.raises(psycopg.DataError, match="are of test/tiny/4"):
        call(two, "search_each", queries=["w2"], query_space="other/one/4", **asked)
