"""sampled_recall: a vector index that misses what it should hold is noticed, and mended."""

import pytest

from tests.sql import corpus
from tests.sql.corpus import Connection, call, engine_of, put, value

RECALL = "select lexichord.sampled_recall()"
READY = """
update pg_index set indisready = %s where indexrelid = 'lexichord_data.chunk_hnsw'::regclass"""


def test_a_sound_index_finds_its_vectors(wide: Connection) -> None:
    assert value(wide, RECALL) >= 0.99
    assert value(wide, "select lexichord.sampled_recall(7)") == 1
    assert value(wide, "select lexichord.sampled_recall(null)") == value(wide, RECALL)


def test_nothing_to_sample(connection: Connection) -> None:
    put(connection, "bare", ["oak"])
    put(connection, "zeros", ["elm"], vectors=[[0.0, 0.0, 0.0, 0.0]])
    assert value(connection, RECALL) is None


def test_no_more_vectors_are_sampled_than_there_are(connection: Connection) -> None:
    put(connection, "oak", ["oak"], vectors=[[1.0, 0.0, 0.0, 0.0]])
    assert value(connection, "select lexichord.sampled_recall(2147483647)") == 1


def lose_rows(connection: Connection) -> None:
    """Store rows that the index is not told of: to searches as those that a vacuum cut off."""
    for number, (uri, lines, vectors) in enumerate(corpus.wide_documents()):
        if number == 30:
            call(connection, "build_indexes")
            connection.execute(READY.encode(), [False])
        put(connection, uri, lines, vectors)
    connection.execute(READY.encode(), [True])
    call(connection, "build_indexes")


def test_a_damaged_index_is_named_and_mended(fresh: Connection) -> None:
    if engine_of(fresh) in ("vectorchord", "citus"):
        pytest.skip("the engine has no HNSW index, or has it on other servers")
    lose_rows(fresh)
    fresh.execute("analyze lexichord_data.chunk")
    assert value(fresh, RECALL) < 0.85
    (problem,) = call(fresh, "find_problems")
    assert problem["problem"].startswith("the vector index finds ")
    fresh.execute(problem["remedy"].encode())
    assert value(fresh, RECALL) >= 0.99
    assert call(fresh, "find_problems") == []
