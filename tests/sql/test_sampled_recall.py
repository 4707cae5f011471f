"""sampled_recall: a vector index that has lost what it holds is noticed, and mended by a rebuild."""

import pytest

from tests.sql import corpus
from tests.sql.corpus import Connection, call, put, value

RECALL = "select lexichord.sampled_recall()"
READY = (
    "update pg_index set indisready = %s where indexrelid = 'lexichord_data.chunk_hnsw'::regclass"
)


def test_a_sound_index_finds_its_vectors(wide: Connection) -> None:
    assert value(wide, RECALL) >= 0.99
    assert value(wide, "select lexichord.sampled_recall(7)") == 1


def test_nothing_to_sample(connection: Connection) -> None:
    put(connection, "bare", ["oak"])
    put(connection, "zeros", ["elm"], vectors=[[0.0, 0.0, 0.0, 0.0]])
    assert value(connection, RECALL) is None


def test_a_damaged_index_is_named_and_mended(fresh: Connection) -> None:
    """Rows that the index was not told of: to a search as those that a vacuum cut off."""
    if value(fresh, "select engine from lexichord.configuration()") == "vectorchord":
        pytest.skip("the engine has no HNSW index")
    documents = list(corpus.wide_documents())
    for number, (uri, lines, vectors) in enumerate(documents):
        if number == 30:
            call(fresh, "build_indexes")
            fresh.execute(READY.encode(), [False])
        put(fresh, uri, lines, vectors)
    fresh.execute(READY.encode(), [True])
    call(fresh, "build_indexes")
    fresh.execute("analyze lexichord_data.chunk")
    assert value(fresh, RECALL) < 0.5
    (problem,) = call(fresh, "find_problems")
    assert problem["problem"].startswith("the vector index finds ")
    fresh.execute(problem["remedy"].encode())
    assert value(fresh, RECALL) >= 0.99
    assert call(fresh, "find_problems") == []
