"""Vectors that come later: chunks_without_vector and set_vectors."""

import psycopg
import pytest

from tests.sql.corpus import Connection, call, put, value


@pytest.fixture
def stored(connection: Connection) -> Connection:
    put(connection, "a", ["w1", "w2", "w3", "w4"], [None, [1, 0, 0, 0], None, None])
    return connection


def waiting(connection: Connection, after: int = 0, batch: int = 10) -> list[int]:
    rows = call(connection, "chunks_without_vector", after=after, batch=batch)
    return [row["chunk_id"] for row in rows]


def fill(connection: Connection, chunks: list[int], vectors: list[str]) -> int:
    statement = "select lexichord.set_vectors(%s, %s)"
    return int(value(connection, statement, chunks, vectors))


def test_batches_go_by_id(stored: Connection) -> None:
    assert waiting(stored) == [1, 3, 4]
    assert waiting(stored, batch=2) == [1, 3]
    assert waiting(stored, after=1, batch=1) == [3]
    assert waiting(stored, after=4) == []
    first = call(stored, "chunks_without_vector", after=0, batch=1)
    assert first == [{"chunk_id": 1, "context": "", "content": "w1", "uri": "a", "missing": 3}]


def test_filled_chunks_are_found_by_their_vectors(stored: Connection) -> None:
    stored.execute("select lexichord.build_indexes()")
    assert fill(stored, [1, 3], ["[0,1,0,0]", "[0,0,1,0]"]) == 2
    assert waiting(stored) == [4]
    candidates = call(stored, "dense_candidates", query_vector="[0,0,1,0]")
    assert [row["chunk_id"] for row in candidates] == [3, 1, 2]
    assert {row["amount"] for row in call(stored, "count_faults")} == {0}


def test_a_vector_is_never_overwritten(stored: Connection) -> None:
    assert fill(stored, [2, 4, 99], ["[0,1,0,0]"] * 3) == 1
    assert call(stored, "dense_candidates", query_vector="[1,0,0,0]")[0]["score"] == 1


@pytest.mark.parametrize("vector", ["[1,0,0]", "[NaN,0,0,0]", "one"])
def test_a_bad_vector_changes_nothing(stored: Connection, vector: str) -> None:
    with pytest.raises(psycopg.DataError), stored.transaction():
        fill(stored, [1, 3], ["[0,1,0,0]", vector])
    assert waiting(stored) == [1, 3, 4]
